"""Digests of files as they were last read, so that only what changed is read again.

A file counts as unchanged if device, inode, size and both times are as before. One that changed just before
it was read is not remembered: it could change again within the same tick of the file system's clock.
"""

from __future__ import annotations

import os
import time

import msgspec
from msgspec import Struct

from saltern.system import atomic

SETTLED = 2_000_000_000  # nanoseconds
_VERSION = 1


class Seen(Struct, frozen=True, array_like=True):
    """The metadata of a file, and the digest of its contents."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int
    digest: str = ""

    def of(self, digest: str) -> Seen:
        return Seen(self.device, self.inode, self.size, self.modified, self.changed, digest)


class _File(Struct, frozen=True):
    version: int
    files: dict[str, Seen]


def seen_from(found: os.stat_result) -> Seen:
    return Seen(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class StatCache:
    """Digests by path; ``save`` drops those that a scan did not use."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._known = self._read()
        self._used: dict[str, Seen] = {}

    def _read(self) -> dict[str, Seen]:
        """The saved digests; a file that is damaged or of another version is ignored."""
        try:
            with open(self._path, "rb") as file:
                saved = msgspec.msgpack.decode(file.read(), type=_File)
        except (OSError, msgspec.DecodeError):
            return {}
        return saved.files if saved.version == _VERSION else {}

    def digest(self, path: str, look: Seen) -> str:
        """The digest of a file with this metadata; empty if it must be read."""
        known = self._used.get(path) or self._known.get(path)
        if known is None or known.of("") != look:
            return ""
        self._used[path] = known
        return known.digest

    def remember(self, path: str, look: Seen, digest: str) -> None:
        if max(look.modified, look.changed) < time.time_ns() - SETTLED:
            self._used[path] = look.of(digest)

    def save(self) -> None:
        """Save the digests that were used since the last time."""
        if self._used == self._known:
            self._used = {}
            return
        self._known, self._used = self._used, {}
        atomic.write(self._path, msgspec.msgpack.encode(_File(_VERSION, self._known)), durable=False)
