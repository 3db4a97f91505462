"""Directories of saltern's own, which other users may not look into."""

from __future__ import annotations

import os
from contextlib import suppress


def make_private(folder: str) -> None:
    """Make a directory and its missing parents; ``os.makedirs`` sets the mode only on the last one."""
    if not folder or os.path.isdir(folder):
        return
    make_private(os.path.dirname(folder.rstrip("/")))
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)


def remove_private(folder: str) -> None:
    """Such a directory and its files, if it is there: none of it will be asked for again."""
    with suppress(OSError):
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        os.rmdir(folder)
