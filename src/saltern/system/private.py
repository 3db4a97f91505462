"""Private directories of saltern, which other users cannot read."""

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
    """Remove such a directory and its files, if it exists."""
    with suppress(OSError):
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        os.rmdir(folder)
