"""Pieces of files that a site keeps on its disk, by name, up to a limit: what was not used for longest goes.

A piece is written beside its own digest, under a temporary name, and renamed. So nothing is synced: what a
crash or a bad disk has damaged is found when it is read, and removed.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import threading
from collections import OrderedDict
from contextlib import suppress

MAX_COUNT = 200_000  # pieces; what is known of them is in memory
_DIGEST = 32
_HEX = frozenset("0123456789abcdef")


def is_name(name: str) -> bool:
    """True if a piece can have this name: 64 hexadecimal digits."""
    return len(name) == 64 and set(name) <= _HEX


class SiteStore:
    """The directory. Its methods block, and may be called from several threads."""

    def __init__(self, directory: str, limit: int, *, max_count: int = MAX_COUNT) -> None:
        self._directory = directory
        self._limit = limit
        self._max_count = max_count
        self._lock = threading.Lock()
        self._new = os.path.join(directory, "new")
        shutil.rmtree(self._new, ignore_errors=True)  # of a process that was killed
        self._sizes: OrderedDict[str, int] = OrderedDict(
            _stored_pieces(directory)
        )  # the longest unused first
        self._total = sum(self._sizes.values())
        with self._lock:
            self._trim()

    def __contains__(self, name: str) -> bool:
        return name in self._sizes

    @property
    def total(self) -> int:
        """Bytes on the disk."""
        return self._total

    def read(self, name: str) -> bytes | None:
        """A piece; None if it is not here, or damaged."""
        if name not in self._sizes:
            return None
        data = self._load(name)
        with self._lock:
            if data is None:
                data = self._load(name)  # another thread may have written it again meanwhile
            if data is None:
                self._drop(name)
            elif name in self._sizes:
                self._sizes.move_to_end(name)
        return data

    def _load(self, name: str) -> bytes | None:
        """The content of a whole piece on the disk; None if it is missing or damaged."""
        try:
            with open(self._path(name), "rb") as file:
                digest, data = file.read(_DIGEST), file.read()
            os.utime(self._path(name))
        except OSError:  # the directory was emptied
            return None
        return data if hashlib.sha256(data).digest() == digest else None

    def write(self, name: str, data: bytes) -> None:
        """Keep a piece, if it fits at all. Raises ``OSError``."""
        size = _DIGEST + len(data)
        if size > self._limit:
            return
        with self._lock:
            self._trim(room=size)
        temporary, path = os.path.join(self._new, secrets.token_hex(8)), self._path(name)
        for folder in (self._new, os.path.dirname(path)):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        try:
            with open(temporary, "xb") as file:
                file.write(hashlib.sha256(data).digest())
                file.write(data)
            with self._lock:
                os.replace(temporary, path)
                self._total += size - self._sizes.pop(name, 0)
                self._sizes[name] = size
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary)

    def _drop(self, name: str) -> None:
        self._total -= self._sizes.pop(name, 0)
        with suppress(OSError):
            os.unlink(self._path(name))

    def _trim(self, room: int = 0) -> None:
        while self._sizes and (self._total + room > self._limit or len(self._sizes) >= self._max_count):
            name, size = self._sizes.popitem(last=False)
            self._total -= size
            with suppress(OSError):
                os.unlink(self._path(name))

    def _path(self, name: str) -> str:
        return os.path.join(self._directory, name[:2], name)


def _stored_pieces(directory: str) -> list[tuple[str, int]]:
    """The pieces that are there, with their sizes; the longest unused first."""
    found = []
    with suppress(FileNotFoundError):
        for folder in os.scandir(directory):
            if folder.is_dir(follow_symlinks=False):
                for one in os.scandir(folder.path):
                    look = one.stat(follow_symlinks=False)
                    found.append((look.st_mtime, one.name, look.st_size))
    return [(name, size) for _, name, size in sorted(found) if is_name(name)]
