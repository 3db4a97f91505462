"""Cache the data of state files without templates on disk, so that no YAML parser is needed.

Importing the parser takes a fifth of a small run. Only literal files of the tree are cached:
the output of a template may contain a secret of the pillar. An entry is named by a digest of the text, so it
is never out of date, and begins with its own digest, so damage is noticed. No other user can write the
directory.
"""

from __future__ import annotations

import os
from _blake2 import blake2b  # hashlib has the same function, but takes a millisecond to import

from msgspec import DecodeError, msgpack

from saltern.render.yaml_limits import Limits
from saltern.system.private import make_private

FORMAT = 2  # increase it when our reading of YAML changes
MOST = 5000  # entries; older ones are removed
_SUM = 8  # bytes
MISSING = object()


class YamlCache:
    """A full or read-only disk costs speed, not the run."""

    def __init__(self, cachedir: str) -> None:
        self._place = os.path.join(cachedir, f"yaml-{FORMAT}")
        self._folder: str | None = None
        self._wrote = False

    def get(self, text: str, limits: Limits) -> object:
        """The data, or ``MISSING``."""
        if not self._is_ours():
            return MISSING
        try:
            with open(self._path(text, limits), "rb") as file:
                kept = file.read()
        except (OSError, ValueError):
            return MISSING
        if blake2b(kept[_SUM:], digest_size=_SUM).digest() != kept[:_SUM]:
            return MISSING
        try:
            return msgpack.decode(kept[_SUM:])
        except DecodeError:
            return MISSING

    def put(self, text: str, limits: Limits, data: object) -> None:
        """Store the data, if it can be restored unchanged: MessagePack lacks some YAML types."""
        try:
            made = msgpack.encode(data)
            if msgpack.decode(made) != data:
                return
        except (TypeError, ValueError, OverflowError, DecodeError, RecursionError):
            return
        if self._made():
            self._write(self._path(text, limits), blake2b(made, digest_size=_SUM).digest() + made)

    def _write(self, path: str, content: bytes) -> None:
        """Write in place: a partial entry has a wrong digest, and is ignored."""
        try:
            handle = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
            )
            try:
                os.write(handle, content)
            finally:
                os.close(handle)
            if not self._wrote:
                self._prune()
        except OSError:
            pass
        self._wrote = True

    def _prune(self) -> None:
        """Remove the older half of too many entries, once in each process that writes."""
        names = os.listdir(self._place)
        if len(names) > MOST:
            paths = [os.path.join(self._place, name) for name in names]
            for path in sorted(paths, key=lambda one: os.stat(one).st_mtime)[: len(paths) // 2]:
                os.unlink(path)

    def _path(self, text: str, limits: Limits) -> str:
        salt = b"%d/%d" % (limits.depth, limits.nodes)
        key = blake2b(text.encode(), digest_size=20, key=salt[:64])
        return f"{self._place}/{key.hexdigest()}"

    def _made(self) -> bool:
        try:
            make_private(self._place)
        except OSError:
            return False
        self._folder = None
        return self._is_ours()

    def _is_ours(self) -> bool:
        """True if the directory exists and no other user can write it."""
        if self._folder is None:
            try:
                place = os.stat(self._place)
                ours = place.st_uid == os.geteuid() and not place.st_mode & 0o077
            except OSError:
                ours = False
            self._folder = self._place if ours else ""
        return bool(self._folder)
