"""Checks the owner of a file: root does not trust what another user owns or can write."""

from __future__ import annotations

import os
import stat


def foreign(path: str, *, like: str = "") -> str:
    """Why root does not use this file or directory, as the end of a sentence; empty if it does. A missing
    file has no owner.

    For a link, both the link and its target are checked. Only root is restricted: other users have no more
    rights than the owner of what they read. ``like``: a trusted file, whose owner is trusted as well.
    """
    if os.geteuid() != 0:
        return ""
    trusted = {0} | ({os.stat(like).st_uid} if like else set())
    for look in (os.lstat, os.stat):
        try:
            found = look(path)
        except OSError:
            return ""
        if found.st_uid not in trusted:
            return f"belongs to the user with the number {found.st_uid}"
        if _is_open(found):
            return "can be written by other users"
    return ""


def _is_open(found: os.stat_result) -> bool:
    """True if other users can write the file. In a sticky directory, they can only add files of their own."""
    if stat.S_ISLNK(found.st_mode) or (stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX):
        return False
    by_group = found.st_mode & stat.S_IWGRP and found.st_gid != 0
    return bool(by_group or found.st_mode & stat.S_IWOTH)
