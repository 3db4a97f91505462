"""Directories that another user could exchange while a program of root works in them."""

from __future__ import annotations

import os
import stat

from saltern.system.paths import look, settle


def foreign_directory(path: str) -> tuple[str, int] | None:
    """The topmost directory on the way whose names another user can change, and that user.

    -1 stands for every user. None if there is no such directory, or if we are not root and have nothing to
    lose by it.
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
    """Of a user, or the number."""
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
