"""Directories that another user could replace while a program of root works in them."""

from __future__ import annotations

import os
import stat

from saltern.system.paths import look, settle


def foreign_directory(path: str) -> tuple[str, int] | None:
    """The topmost directory in the path in which another user can rename entries, and that user; -1 means
    every user.

    None if there is no such directory, or if we are not root.
    """
    if os.geteuid():
        return None
    at = ""
    for part in settle(path).split("/"):
        at = f"{at}/{part}" if part else at
        found = look(at or "/")
        if found is None or not stat.S_ISDIR(found.st_mode):
            return None
        if found.st_uid:
            return at or "/", found.st_uid
        if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
            return at or "/", -1
    return None


def name_of(uid: int) -> str:
    """The name of a user, or the number if there is none."""
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
