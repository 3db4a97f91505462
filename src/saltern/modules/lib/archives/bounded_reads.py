"""Bounded reads of untrusted files, with readable errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import IO, Protocol

from saltern.modules.api.refused import Refused
from saltern.modules.lib.archives.entries import Meter

BLOCK = 1 << 18
BIGGEST_HEADER = 1 << 20  # for pax and GNU headers, which are read at once
PER_ENTRY = 4 << 10


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Bounded:
    """A file that limits the size of each read, and the total to the size that an archive may unpack to."""

    def __init__(self, file: IO[bytes], meter: Meter, most: int = BIGGEST_HEADER) -> None:
        self._file = file
        self._meter = meter
        self._most = most

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            size = self._most
        if size > self._most:
            raise Refused(
                f"the archive is refused: a header has {size} bytes, more than the limit of {self._most}"
            )
        self._check(self._file.tell() + size)
        return self._file.read(size)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_SET:
            self._check(offset)
        return self._file.seek(offset, whence)

    def _check(self, end: int) -> None:
        """Check the total; headers and padding of each entry are added to the unpacked size."""
        self._meter.check(end - BIGGEST_HEADER - PER_ENTRY * self._meter.entries)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()


@contextmanager
def read_as(form: str, path: str) -> Iterator[None]:
    """Turn the exceptions of the standard library for a broken archive, of many types, into ``Refused``."""
    import struct

    try:
        yield
    except (OSError, EOFError, ValueError, ArithmeticError, LookupError, TypeError) as problem:
        if isinstance(problem, OSError) and problem.errno:
            raise  # the disk, not the archive
        raise Refused(f"{path} cannot be read as a {form} archive: {_words(problem)}") from None
    except (struct.error, RecursionError, MemoryError, AttributeError) as problem:
        raise Refused(f"{path} cannot be read as a {form} archive: {_words(problem)}") from None


def _words(problem: BaseException) -> str:
    return str(problem)[:200] or type(problem).__name__


def blocks(
    opened: Callable[[], Readable],
    guard: Callable[[], AbstractContextManager[None]],
    meter: Meter,
    size: int = BLOCK,
) -> Iterator[bytes]:
    """The content of a member, read in the context of ``guard``; the caller writes it outside of it."""
    total = 0
    with guard():
        file = opened()
        block = file.read(size)
    while block:
        total += len(block)
        meter.check(total)
        yield block
        with guard():
            block = file.read(size)
