"""File contexts: the policy for labels, and the labels of files."""

from __future__ import annotations

import os
import re

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused, check_known
from saltern.system.process import Ran

FILE_TYPES = {
    "a": "all files",
    "f": "regular file",
    "d": "directory",
    "c": "character device",
    "b": "block device",
    "s": "socket",
    "l": "symbolic link",
    "p": "named pipe",
}
LISTED = re.compile(
    rf"(?P<filespec>.+?)\s+(?P<filetype>{'|'.join(FILE_TYPES.values())})\s+(?P<context>\S+:\S+|<<[Nn]one>>)\s*"
)
PARTS = ("sel_user", "sel_role", "sel_type", "sel_level")
RELABEL = re.compile(
    r"(?:.*Would relabel (?P<path>.+) from (?P<old>\S+) to (?P<new>\S+)"
    r"|.*restorecon reset (?P<path2>.+) context (?P<old2>\S+)->(?P<new2>\S+))"
)
PATTERN = re.compile(r"[(\[*+?{|^$]")


Entry = dict[str, str]  # filespec, filetype, and the parts of the context


class DesiredContext(Struct, frozen=True, kw_only=True):
    """An entry; None matches any value."""

    name: str
    filetype: str | None = "a"
    sel_type: str | None = None
    sel_user: str | None = None
    sel_level: str | None = None

    @property
    def wanted(self) -> dict[str, str]:
        given = {"sel_type": self.sel_type, "sel_user": self.sel_user, "sel_level": self.sel_level}
        return {part: value for part, value in given.items() if value is not None}


def desired_context(
    name: str, filetype: str | None, sel_type: str | None, sel_user: str | None, sel_level: str | None
) -> DesiredContext:
    """The entry, checked. Raises ``Refused`` for an impossible one."""
    if filetype is not None:
        check_known(filetype, FILE_TYPES, "filetype")
    if not name.startswith("/") or re.search(r"\s", name):
        raise Refused(f"{name!r} is not an absolute path (patterns are allowed) without blanks")
    return DesiredContext(
        name=name, filetype=filetype, sel_type=sel_type, sel_user=sel_user, sel_level=sel_level
    )


def parts(context: str) -> dict[str, str]:
    """The parts of ``user:role:type:level``; an entry for unlabelled files has only a type."""
    if context.startswith("<<"):
        return {"sel_type": context.lower()}
    return dict(zip(PARTS, context.split(":", 3), strict=False))


def entries(ctx: Context, *, local: bool = False) -> list[Entry]:
    """All entries with the parts of their contexts, or only the local ones."""
    only = ["--locallist"] if local else []
    lines = tool(ctx, "semanage", "fcontext", "--list", "--noheading", *only).out.splitlines()
    found = (LISTED.fullmatch(line) for line in lines)
    return [
        {"filespec": one["filespec"], "filetype": one["filetype"], **parts(one["context"])}
        for one in found
        if one
    ]


def find(ctx: Context, wanted: DesiredContext, *, local: bool = False) -> Entry | None:
    """The entry with this name and file type; its context is not compared."""
    file_type = FILE_TYPES.get(wanted.filetype or "")
    alike = (
        one
        for one in entries(ctx, local=local)
        if one["filespec"] == wanted.name and file_type in (None, one["filetype"])
    )
    return next(alike, None)


def run(ctx: Context, action: str, wanted: DesiredContext) -> Ran:
    """``add``, ``modify`` or ``delete`` an entry."""
    given = {"--ftype": wanted.filetype or "a"}
    if action != "delete":
        given |= {
            "--type": wanted.sel_type or "",
            "--seuser": wanted.sel_user or "",
            "--range": wanted.sel_level or "",
        }
    options = [word for option, value in given.items() if value for word in (option, value)]
    return tool(ctx, "semanage", "fcontext", f"--{action}", *options, wanted.name)


# -- labels -----------------------------------------------------------------------------------------


def path_of(ctx: Context, name: str) -> str:
    """The path before the patterns of an entry."""
    if ctx.host.exists(name):
        return name
    found = PATTERN.search(name)
    start = name[: found.start()] if found else name
    return os.path.normpath(re.sub(r"\\(.)", r"\1", start) or "/")


def wrong_labels(ctx: Context, path: str, *, recursive: bool) -> dict[str, dict[str, dict[str, str]]]:
    """The files whose labels differ from the policy, with the differing parts."""
    return relabelled_files(restore(ctx, path, recursive=recursive, only_look=True).out)


def relabelled_files(printed: str) -> dict[str, dict[str, dict[str, str]]]:
    found = {}
    for line in printed.splitlines():
        if reported := RELABEL.fullmatch(line):
            old, new = parts(reported["old"] or reported["old2"]), parts(reported["new"] or reported["new2"])
            differing = [part for part in PARTS if old.get(part) != new.get(part)]
            found[reported["path"] or reported["path2"]] = {
                "old": {part: old[part] for part in differing if part in old},
                "new": {part: new[part] for part in differing if part in new},
            }
    return found


def restore(ctx: Context, path: str, *, recursive: bool, only_look: bool = False) -> Ran:
    options = ["-v", *(["-R"] if recursive else []), "-n" if only_look else "-F"]
    return tool(ctx, "restorecon", *options, path)
