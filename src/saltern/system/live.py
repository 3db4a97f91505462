"""The output of a running program in files for watchers: the end of each stream, limited in size.

A process with watchers calls ``watch``: the output of its programs is then written to files beside their
results, and while it waits for a program it calls ``look`` from time to time, at safe points.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from saltern.system import atomic
from saltern.system.regular import read_regular

MOST = 64 << 10  # minimum number of bytes of one stream that are kept; a file has at most twice as many
HEAD = 20  # bytes before the text: how many are left out
EVERY = 0.5  # seconds between two calls of ``look``
STREAMS = ("stdout", "stderr")


class Watched:
    """The watching of this process: how the names of the files begin (empty: there are none), and the
    function to call.
    """

    prefix = ""
    look: Callable[[], None] | None = None


@contextmanager
def watch(prefix: str, look: Callable[[], None]) -> Iterator[None]:
    """Watch programs until the block ends."""
    before = Watched.prefix, Watched.look
    Watched.prefix, Watched.look = prefix, look
    try:
        yield
    finally:
        Watched.prefix, Watched.look = before
        _remove(prefix)


def new_prefix() -> str:
    """The beginning of the file names for the next program, without files of the one before."""
    if Watched.prefix:
        _remove(Watched.prefix)
    return Watched.prefix


def _remove(prefix: str) -> None:
    for stream in STREAMS:
        with suppress(OSError):
            os.remove(f"{prefix}.{stream}")


def wait_for(pipe: int) -> None:
    """Wait until the pipe has something to read; meanwhile, call the watcher."""
    if Watched.look is None:
        return
    import select

    while not select.select([pipe], [], [], EVERY)[0]:
        Watched.look()


class LiveFile:
    """One stream, written as it comes. Output that cannot be written is left out: the program continues."""

    def __init__(self, path: str) -> None:
        self._path, self._file, self._size, self._left_out = path, -1, 0, 0
        self._begin(b"")

    def append(self, piece: bytes) -> None:
        if self._file < 0:
            return
        if self._size + len(piece) > 2 * MOST:
            _, kept = read(self._path)
            whole = kept + piece
            self._left_out += max(0, len(whole) - MOST)
            self._begin(whole[-MOST:])
        else:
            self._write(piece)

    def _begin(self, text: bytes) -> None:
        """Replace the file with a new one: a reader sees one of them completely."""
        self.close()
        with suppress(OSError):
            atomic.write(self._path, b"%0*d" % (HEAD, self._left_out), durable=False)
            self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
            self._size = 0
            self._write(text)

    def _write(self, piece: bytes) -> None:
        view = memoryview(piece)
        try:
            while view:
                done = os.write(self._file, view)
                self._size += done
                view = view[done:]
        except OSError:
            self.close()

    def close(self) -> None:
        if self._file >= 0:
            with suppress(OSError):
                os.close(self._file)
            self._file = -1


def read(path: str) -> tuple[int, bytes]:
    """The number of bytes left out before the text, and the text; nothing if there is no such file."""
    try:
        data = read_regular(path)
        return int(data[:HEAD] or b"0"), data[HEAD:]
    except (OSError, ValueError):
        return 0, b""
