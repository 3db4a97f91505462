"""``file``: status of files and file systems."""

# ruff: noqa: ARG001 - the signature is the interface

from __future__ import annotations

import os
import stat

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.file.digests import digest_of
from saltern.modules.functions.file.errors import expand_home, explain_errors
from saltern.modules.functions.file.ownership import stat_of
from saltern.modules.lib.files.names import names_of
from saltern.system import files

TYPES: dict[str, str] = {
    "directory": "dir",
    "pipe": "pipe",
    "character device": "char",
    "block device": "block",
}


@function
def stats(
    ctx: Context, path: str, hash_type: str | None = None, follow_symlinks: bool = True
) -> dict[str, object]:
    """The status of a path; with ``hash_type`` (``sha256``), also its checksum.

    Example:
        ```console
        $ saltern call file.stats /srv/app/list.txt
        local:
        …
            mode:
                0644
        …
        ```
    """
    found = stat_of(path, follow_symlinks)
    names = names_of(ctx)
    kind = files.kind_of(found)
    known: dict[str, object] = {
        "inode": found.st_ino,
        "uid": found.st_uid,
        "gid": found.st_gid,
        "user": names.user(found.st_uid),
        "group": names.group(found.st_gid),
        "atime": found.st_atime,
        "mtime": found.st_mtime,
        "ctime": found.st_ctime,
        "size": found.st_size,
        "mode": f"{stat.S_IMODE(found.st_mode):04o}",
        "type": TYPES.get(kind, kind),
        "target": os.path.realpath(expand_home(path)),
    }
    if hash_type and kind == "file":
        known["sum"] = digest_of(path, hash_type)
    return known


@function
def lstat(ctx: Context, path: str) -> dict[str, object]:
    """The status of a path, without following links; empty if it does not exist.

    Example:
        ```console
        $ saltern call file.lstat /srv/app/list.txt
        local:
        …
            st_mtime:
                …
        …
        ```
    """
    found = files.look(expand_home(path))
    if found is None:
        return {}
    fields = ("atime", "ctime", "gid", "mode", "mtime", "nlink", "size", "uid")
    return {f"st_{field}": getattr(found, f"st_{field}") for field in fields}


@function
def statvfs(ctx: Context, path: str) -> dict[str, object]:
    """The status of the file system of a path.

    Example:
        ```console
        $ saltern call file.statvfs /srv
        ```
    """
    with explain_errors(path):
        found = os.statvfs(expand_home(path))
        fields = (
            "bavail",
            "bfree",
            "blocks",
            "bsize",
            "favail",
            "ffree",
            "files",
            "flag",
            "frsize",
            "namemax",
        )
        return {f"f_{field}": getattr(found, f"f_{field}") for field in fields}
