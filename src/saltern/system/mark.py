"""A small file beside a file, which records how far that file was written: if the file has less, it is
damaged.

The mark is written after the records that it counts, and before anything depends on them. It is not synced
itself: if the process is killed, the mark is complete; after a loss of power it may count too little, never
too much.
"""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Mapping

from msgspec import MsgspecError, Struct, msgpack

from saltern.system.regular import NotRegular, open_regular, read_regular

SUFFIX = ".mark"
HEAD = 8  # bytes before the body: its length, its checksum
MOST = 4096


class Mark(Struct, frozen=True, array_like=True):
    """``written`` records survive the end of the process, and ``synced`` of them a loss of power in this
    ``boot``.

    ``chain`` is the checksum of the last record, which includes all before it. ``over``: that record is the
    end, and it is synced.
    """

    written: int = 0
    synced: int = 0
    chain: int = 0
    boot: Mapping[str, str] = {}
    over: bool = False


class MarkDamaged(Exception):
    """The mark exists and is damaged."""


def create(path: str) -> int:
    """Create the mark of a file, or open the existing one."""
    return open_regular(path + SUFFIX, os.O_RDWR | os.O_CREAT)


def write(file: int, mark: Mark) -> None:
    """Write the mark in place and at once: a process that is killed meanwhile leaves the old one or the new
    one.
    """
    body = msgpack.encode(mark)
    os.pwrite(file, len(body).to_bytes(4) + crc32(body).to_bytes(4) + body, 0)


def read(path: str) -> Mark | None:
    """Read the mark; None if there is none."""
    try:
        data = read_regular(path + SUFFIX, MOST)
    except FileNotFoundError:
        return None
    except NotRegular:
        raise MarkDamaged("its mark, which records how far it was written, is not a plain file") from None
    size, check = int.from_bytes(data[:4]), int.from_bytes(data[4:HEAD])
    body = data[HEAD : HEAD + size]
    if not size or len(body) < size or crc32(body) != check:
        raise MarkDamaged("its mark, which records how far it was written, is damaged")
    try:
        return msgpack.decode(body, type=Mark)
    except MsgspecError:
        raise MarkDamaged("its mark, which records how far it was written, is invalid") from None
