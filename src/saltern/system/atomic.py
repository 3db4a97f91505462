"""Writes, syncs and replaces a file, so that readers find the old or the new content, never a part.

Only for the program's own files. Files that states write keep their owner, mode and labels, and trusted links
are followed: see ``system.files`` (and ``system.rooted`` below a root). ``modules/lib/chain_chunks.py`` runs
within Salt and has its own copy.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def write(path: str, data: bytes, *, mode: int = 0o600, durable: bool = True) -> None:
    """Replace a file by one with this content and mode.

    ``durable``: it survives a loss of power once this returns. A reader finds the old file or the new one in
    any case. Raises ``OSError``; then the old file is unchanged and nothing is left beside it. Files left by
    killed processes are removed.
    """
    place = place_beside(path)
    with _removed_on_error(place):
        file = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
        with os.fdopen(file, "wb") as out:
            os.fchmod(file, mode)
            out.write(data)
            if durable:
                out.flush()
                os.fsync(file)
        os.replace(place, path)
    if durable:
        sync_directory(os.path.dirname(path))


def link(path: str, target: str, *, durable: bool = True) -> None:
    """Replace a link, or any other file, with a link to ``target``."""
    place = place_beside(path)
    os.symlink(target, place)
    with _removed_on_error(place):
        os.replace(place, path)
    if durable:
        sync_directory(os.path.dirname(path))


@contextmanager
def _removed_on_error(place: str) -> Iterator[None]:
    """Remove the file at ``place`` if the block raises."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            os.remove(place)
        raise


def place_beside(path: str) -> str:
    """A new hidden name in the same directory; files of killed processes there are removed first."""
    from saltern.system.leftovers import sweep_folder, temporary_name

    folder, name = os.path.split(path)
    sweep_folder(folder or ".")
    return os.path.join(folder, temporary_name(name))


def sync_directory(folder: str) -> None:
    """Make the names in a directory survive a loss of power."""
    place = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(place)
    finally:
        os.close(place)
