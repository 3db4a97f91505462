"""Paths as the user gives them, the facts of a file, and results that report them."""

from __future__ import annotations

import os
import stat

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.names import names_of
from saltern.system import files
from saltern.system.files import kind_of

MOST_HASHED = 1 << 20  # bytes; the digest is optional, and must not cost more than the state


def absolute(name: str) -> str:
    """The absolute path, with ``~`` expanded. Raises for a relative one."""
    if not name:
        raise Refused("the path is empty; give name")
    path = os.path.expanduser(name) if name.startswith("~") else name
    if not path.startswith("/"):
        raise Refused(f"Specified file {name} is not an absolute path")
    return path


def existing_directory(name: str) -> tuple[str, os.stat_result]:
    """The absolute path of a directory, or of a link to one, and its status. Raises if there is none."""
    path = absolute(name)
    found = files.look(path, follow=True)
    if found is None or kind_of(found) != "directory":
        raise Refused(f"{path}is not a directory, or does not exist")
    return path, found


def facts(
    ctx: Context, path: str, found: os.stat_result | None, data: bytes | None = None
) -> dict[str, object]:
    """The facts about a path, changed or not."""
    if found is None:
        return {"path": path, "exists": False}
    names = names_of(ctx)
    known: dict[str, object] = {
        "path": path,
        "exists": True,
        "type": kind_of(found),
        "mode": f"{stat.S_IMODE(found.st_mode):04o}",
        "user": names.user(found.st_uid),
        "group": names.group(found.st_gid),
        "size": found.st_size,
    }
    if data is not None and len(data) <= MOST_HASHED:
        known["sha256"] = digest(data)
    return known


def digest(data: bytes, form: str = "sha256") -> str:
    import hashlib

    return hashlib.new(form, data, usedforsecurity=False).hexdigest()
