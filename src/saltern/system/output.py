"""The output of a program, limited in size: its beginning and its end, and all of it in a file.

A program may print without end. A limited part of each stream is kept in memory, half of it from the
beginning and half from the end; a longer stream is also written to a file as it comes, if a file is given.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress

from saltern.system.live import LiveFile
from saltern.system.output_limits import Limits
from saltern.system.private import make_private


class Printed:
    """One stream. ``spill``: the file for a stream that is too long; ``live``: the file for watchers."""

    def __init__(self, spill: str = "", live: str = "") -> None:
        self._spill = spill
        self._live = LiveFile(live) if live else None
        self._file = -1
        self._in_file = 0
        self._half = Limits.kept // 2
        self._head: list[bytes] = []
        self._tail: deque[bytes] = deque()
        self._sizes = [0, 0]
        self._total = 0

    def append(self, piece: bytes) -> None:
        if not piece:
            return
        self._total += len(piece)
        if self._live is not None:
            self._live.append(piece)
        if self._total > 2 * self._half:
            self._to_file(piece)
        room = self._half - self._sizes[0]
        if room > 0:
            self._head.append(piece[:room])
            self._sizes[0] += min(room, len(piece))
            piece = piece[room:]
        if piece:
            self._tail.append(piece)
            self._sizes[1] += len(piece)
            while self._sizes[1] - len(self._tail[0]) >= self._half:
                self._sizes[1] -= len(self._tail.popleft())

    def _to_file(self, piece: bytes) -> None:
        """Write to the file; on failure, leave it out and let the program continue."""
        if not self._spill or not Limits.file:
            return
        try:
            if self._file < 0:
                make_private(os.path.dirname(self._spill))
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
                self._file = os.open(self._spill, flags, 0o600)
                for one in (*self._head, *self._tail):
                    self._write(one)
            self._write(piece)
        except OSError:
            self._spill = self._spill if self._in_file else ""

    def _write(self, piece: bytes) -> None:
        view = memoryview(piece)[: Limits.file - self._in_file]
        while view:
            done = os.write(self._file, view)
            self._in_file += done
            view = view[done:]

    def text(self) -> str:
        """All output, or its beginning and end with a line between them about the omitted part."""
        self.close()
        head, tail = b"".join(self._head), b"".join(self._tail)
        if self._total <= 2 * self._half:
            return (head + tail).decode("utf-8", "replace")
        note = f"[{self._total - 2 * self._half} of {self._total} bytes left out{self._where()}]"
        parts = head.decode("utf-8", "replace"), note, tail[-self._half :].decode("utf-8", "replace")
        return "\n".join(parts)

    def _where(self) -> str:
        if not self._in_file:
            return ""
        how_much = "all" if self._in_file == self._total else f"the first {self._in_file}"
        return f"; {how_much} of them are in {self._spill}"

    def close(self) -> None:
        if self._live is not None:
            self._live.close()
        if self._file >= 0:
            with suppress(OSError):
                os.close(self._file)
            self._file = -1
