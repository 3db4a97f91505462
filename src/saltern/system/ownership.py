"""Whose a file is: root does not believe what another user owns."""

from __future__ import annotations

import os


def foreign(path: str) -> str:
    """Why root does not use this file or directory, as the rest of a sentence; empty: it does.

    What is not there has no owner. Only root is asked to be careful: others have no more rights than the
    owner of what they read.
    """
    if os.geteuid() != 0:
        return ""
    try:
        found = os.lstat(path)
    except OSError:
        return ""
    return f"belongs to the user with the number {found.st_uid}" if found.st_uid else ""
