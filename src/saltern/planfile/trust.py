"""Check which parts of a plan can be trusted, before any of it is used.

A plan says what to do, with the rights of the user who applies it. So its file must belong to that
user; and the places of code and data come from the configuration of this machine and the given
options, which must match those that the plan was made with.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping

from msgspec import ValidationError, convert, to_builtins
from msgspec.structs import replace

from saltern.config.settings import Settings
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.paths import MOST_LINKS

MOST_BYTES = 1 << 30
# What a plan decides: none of it loads code.
DECIDES = ("id", "saltenv", "pillarenv", "failhard", "strict", "diff_new_files", "refresh_in_test")
# What does not matter to a plan: the output, and how runs are kept.
FREE = frozenset(
    {
        *("test", "files", "check", "color", "queue_runs", "keep_runs"),
        *(name for name in Settings.__struct_fields__ if name.startswith(("state_output", "state_verbose"))),
        *("state_tabular", "state_compress_ids"),
    }
)


def read_own(path: str) -> bytes:
    """The bytes of a file that is ours or root's, and that only its owner can write or replace.

    Checked and read through one handle: what was checked is what is read. Raises ``OperationError``.
    """
    try:
        if why := exchangeable(path):
            raise _distrust_error(path, why)
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with os.fdopen(handle, "rb") as file:
            known = os.fstat(file.fileno())
            if why := distrust(known):
                raise _distrust_error(path, why)
            return file.read(known.st_size)  # read() reserves as much memory as it is asked for
    except OSError as problem:
        raise _distrust_error(path, f"it cannot be read: {problem.strerror or problem}") from None


def distrust(found: os.stat_result) -> str:
    """Why a file is not trusted; empty if it is."""
    if not stat.S_ISREG(found.st_mode):
        return "it is not a plain file"
    if found.st_uid not in (os.geteuid(), 0):
        return f"it belongs to the user with the number {found.st_uid}"
    if found.st_mode & 0o022:
        return "other users can write it"
    return f"it has more than {MOST_BYTES:,} bytes" if found.st_size > MOST_BYTES else ""


def exchangeable(path: str) -> str:
    """Why another user could replace the file with another file of ours; empty if none can.

    Checks every directory on the path, and every link, whose directory may be open to all.
    """
    at, links = "", 0
    todo = os.path.join(os.getcwd(), path).split("/")[::-1]
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        if part == "..":
            at = os.path.dirname(at)
            continue
        found = os.lstat(f"{at}/{part}")
        if why := _open_directory(at or "/") or _foreign_link(f"{at}/{part}", found):
            return why
        if not stat.S_ISLNK(found.st_mode):
            at = f"{at}/{part}"
            continue
        links += 1
        if links > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        target = os.readlink(f"{at}/{part}")
        todo += target.split("/")[::-1]
        at = "" if target.startswith("/") else at
    return ""


def _open_directory(path: str) -> str:
    """Why another user can rename its entries; with the sticky bit, only the owners of files can."""
    found = os.lstat(path)
    if found.st_uid not in (os.geteuid(), 0):
        return f"the directory {path} belongs to the user with the number {found.st_uid}"
    by_group = found.st_mode & stat.S_IWGRP and found.st_gid not in (os.getegid(), 0)
    if not found.st_mode & stat.S_ISVTX and (by_group or found.st_mode & stat.S_IWOTH):
        return f"other users can write the directory {path}"
    return ""


def _foreign_link(path: str, found: os.stat_result) -> str:
    if not stat.S_ISLNK(found.st_mode) or found.st_uid in (os.geteuid(), 0):
        return ""
    return f"the link {path} belongs to the user with the number {found.st_uid}"


def settings_of(kept: Mapping[str, object], own: Settings, *, path: str) -> Settings:
    """Our settings, with those that the plan decides. Raises ``OperationError`` if it was made with
    others.
    """
    ours = to_builtins(own, enc_hook=str)
    differing = [
        name
        for name in Settings.__struct_fields__
        if name not in FREE and name not in DECIDES and kept.get(name) != ours[name]
    ]
    if differing:
        raise _other_settings(path, differing, kept, ours)
    decided = {name: kept.get(name, ours[name]) for name in DECIDES}
    try:
        checked = convert({**to_builtins(Settings(), enc_hook=str), **decided}, Settings)
    except ValidationError as problem:
        raise _distrust_error(path, f"its settings are damaged: {problem}") from None
    return replace(own, **{name: getattr(checked, name) for name in DECIDES})


def check_template(planned: str | None, given: str | None, *, path: str) -> None:
    """Raise if the plan uses a state file outside of the roots that the command line does not name."""
    if planned is None and given is None:
        return
    if planned is not None and given is not None and os.path.realpath(planned) == os.path.realpath(given):
        return
    shown = f"of the file {planned!r}" if planned else "of no single file"
    raise OperationError(
        Diagnostic(
            code="plan-settings",
            what=f"the plan {path!r} was not applied: it is {shown}",
            fix=f"if that is what you mean: saltern apply {path}"
            + (f" --template {planned}" if planned else ""),
        )
    )


_FLAGS = {
    "file_roots": "--file-root",
    "pillar_roots": "--pillar-root",
    "grains_file": "--grains",
}


def _other_settings(
    path: str, names: list[str], kept: Mapping[str, object], ours: Mapping[str, object]
) -> OperationError:
    rows = [
        f"- {name}: the plan has {_format_value(kept.get(name))}, here it is {_format_value(ours[name])}"
        for name in names
    ]
    flags = [_FLAGS.get(name, "--config") for name in names]
    return OperationError(
        Diagnostic(
            code="plan-settings",
            what=f"the plan {path!r} was not applied: it was made with other settings than this machine has",
            detail="\n".join(rows),
            fix=f"if you trust the plan, give its options: {', '.join(dict.fromkeys(flags))}",
        )
    )


def _format_value(value: object) -> str:
    """Roots are shown; values that may be secrets are not."""
    if isinstance(value, dict) and all(isinstance(one, list) for one in value.values()):
        return ", ".join(f"{env}={root}" for env, roots in value.items() for root in roots) or "none"
    if isinstance(value, str):
        return repr(value)[:80]
    return "others" if isinstance(value, dict | list) else str(value)[:80]


def _distrust_error(path: str, why: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="plan-distrusted",
            what=f"the plan {path!r} was not applied: {why}",
            fix="a plan and its directory must belong to you or root, and no other user may "
            "write to either: copy it to such a directory, and check it there",
        )
    )
