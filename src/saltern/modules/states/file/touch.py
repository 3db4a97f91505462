"""``file.touch``: create an empty file, or set the times of an existing one."""

from __future__ import annotations

import os

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import absolute, facts
from saltern.modules.lib.files.write import parent_notes
from saltern.system import files


@state(name_is="path")
def touch(
    ctx: Context, name: str, *, atime: object = None, mtime: object = None, makedirs: bool = False
) -> Result:
    """Create an empty file, or set the times of an existing file or directory.

    Without ``atime`` and ``mtime`` the times are now, so this always changes something; with
    them, only if they differ.

    Args:
        name: the absolute path.
        atime, mtime: seconds since the epoch, or a date such as ``2024-05-01 12:00``; if only one is
            given, the other is now.
        makedirs: create missing parent directories.

    Example:
        ```yaml
        /srv/app/installed:
          file.touch: []
        ```
    """
    ctx.facts = {"path": name}
    path = absolute(name)
    times = _times(ctx, atime, mtime)
    found = files.look(path, follow=True)
    fixed = atime is not None or mtime is not None
    if found is not None and fixed and _have(found, times, by_access=mtime is None):
        return result_of(ctx, {}, f"{path} has these times already", facts(ctx, path, found))
    notes = [] if found else parent_notes(ctx, path, makedirs)
    changes: dict[str, object] = {"touched" if found else "new": path}
    kind = "directory" if found and files.kind_of(found) == "directory" else "file"
    done = f"The {kind} {path} has new times" if found else f"Created empty file {path}"
    would = f"The {kind} {path} would get new times" if found else f"File {path} would be created"
    if not ctx.test:
        _touch(path, found is None, makedirs, times if fixed or found else None)
        found = files.look(path, follow=True)
    return result_of(
        ctx, changes, Words(would="\n".join([would, *notes]), done=done), facts(ctx, path, found)
    )


def _times(ctx: Context, atime: object, mtime: object) -> tuple[float, float]:
    """The access and modification time; one that is not given is now."""
    now = ctx.clock.now()
    return now if atime is None else _seconds(atime), now if mtime is None else _seconds(mtime)


def _seconds(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    text = str(value)
    try:
        return float(text)
    except ValueError:
        pass
    from datetime import datetime

    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise Refused(
            f"{text!r} is not a time; give seconds since the epoch, or a date such as 2024-05-01 12:00"
        ) from None


def _have(found: os.stat_result, times: tuple[float, float], *, by_access: bool) -> bool:
    """True if the modification time is set; the access time, which every read changes, counts only alone."""
    difference = found.st_atime - times[0] if by_access else found.st_mtime - times[1]
    return abs(difference) < 1e-3


def _touch(path: str, new: bool, makedirs: bool, times: tuple[float, float] | None) -> None:
    if new and makedirs:
        files.make_directories(os.path.dirname(path))
    place = files.settle(path)
    if new:
        files.write(place, b"")
    if times is not None:
        os.utime(place, times, follow_symlinks=False)
