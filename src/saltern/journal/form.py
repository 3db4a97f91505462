"""The form of a journal's file, for those who write it and those who read it."""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec import MsgspecError, Struct, msgpack

from saltern.system import maker, mark
from saltern.system.regular import read_regular

FORMAT = 3  # raise it when records of before can no longer be read
SUFFIX = ".run"
ASIDE = ".damaged"
KEY = ".key"  # opens the secrets in it, see ``seal``
# A file, what lay beside it in the format before, and how far it was written: what belongs to one journal.
SIDES = ("", "-wal", "-shm", mark.SUFFIX, KEY)
SEALED = "sealed"  # the record before the first that has a sealed secret
NEW = ".new"  # the end of a plain file's name before it is whole, after the word of its maker
PLAIN = b"saltern run 1\n"  # how the file of a run begins that is written whole, at its end
LOG = b"saltern run 3\n"  # how one begins that grows: frames of records follow
HEAD = 8  # bytes before a frame's body: its length, the checksum of its last record

# How the names of files end that prove that there was a journal.
TRACES = ("", mark.SUFFIX, ASIDE, ASIDE + mark.SUFFIX)


class Record(Struct, frozen=True):
    seq: int
    kind: str
    body: object


class Damaged(Exception):
    """A journal that cannot be read, and never will be; the text says why."""


class Unreadable(Exception):
    """A journal that cannot be read here and now: not ours, of a later version, held by another process."""


def names_in(folder: str, suffix: str) -> list[str]:
    """The journals of a folder by what is left of each, the newest first."""
    ends = tuple(suffix + trace for trace in TRACES)
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return sorted(
        {name.rpartition(suffix)[0] for name in names if name.endswith(ends)}, key=age, reverse=True
    )


def new_path(path: str) -> str:
    """Where this process writes a plain file before it is whole."""
    return f"{path}.{maker.this_process().word}{NEW}"


def remove_unfinished(folder: str) -> None:
    """Remove plain files that were not whole when the processes which wrote them were killed."""
    unfinished = [name for name in os.listdir(folder) if name.endswith(NEW)]
    if not unfinished:
        return
    import re

    me = maker.this_process()
    for name in unfinished:
        found = re.search(rf"\.({maker.PATTERN})\Z", name.removesuffix(NEW))
        if found and maker.is_gone(maker.parse(found[1]), me):
            with suppress(OSError):
                os.remove(os.path.join(folder, name))


def remove_key(path: str) -> None:
    """Remove the key of the journal at ``path``, if it has one: its run is over."""
    with suppress(FileNotFoundError):
        os.remove(path + KEY)


def age(name: str) -> tuple[int, str]:
    """Sorts names of runs by when they began: a number with more digits is a later one."""
    return (len(name) if name.isdigit() else 0, name)


def is_aside(path: str) -> bool:
    """It was damaged, and is out of the way."""
    there = any(os.path.lexists(path + side) for side in ("", mark.SUFFIX))
    return not there and any(os.path.lexists(path + ASIDE + side) for side in ("", mark.SUFFIX))


def checksum(seq: int, kind: str, body: bytes, before: int = 0) -> int:
    """``before`` is that of the record before it, so that the last one vouches for all."""
    return crc32(body, crc32(f"{seq} {kind}".encode(), before))


class Frame(Struct, frozen=True):
    """Records that were written together. ``first``: the number of the first; ``end``: where the frame ends;
    ``chain``: the checksum of the last, which counts in all before it."""

    first: int
    rows: Sequence[tuple[str, bytes]]
    end: int
    chain: int


def encode_frame(rows: Sequence[tuple[int, str, bytes]], before: int) -> tuple[bytes, int]:
    """A frame of these records after one whose checksum is ``before``; and the checksum of the last."""
    chain = before
    for row in rows:
        chain = checksum(*row, chain)
    body = msgpack.encode([(kind, data) for _, kind, data in rows])
    return len(body).to_bytes(4) + chain.to_bytes(4) + body, chain


def frames(data: bytes) -> Iterator[Frame]:
    """The frames of a log, up to the first that is not whole or not what was written."""
    at, first, chain = len(LOG), 0, 0
    while at + HEAD < len(data):
        end = at + HEAD + int.from_bytes(data[at : at + 4])
        said = int.from_bytes(data[at + 4 : at + HEAD])
        try:
            rows = msgpack.decode(data[at + HEAD : end], type=list[tuple[str, bytes]])
        except MsgspecError:
            return
        for seq, (kind, body) in enumerate(rows, first):
            chain = checksum(seq, kind, body, chain)
        if end > len(data) or chain != said or not rows:
            return
        yield Frame(first, rows, end, chain)
        at, first = end, first + len(rows)


def is_log(path: str) -> bool:
    """False if it was written whole, or by a version before this format. An empty one will be a log."""
    return LOG.startswith(read_regular(path, len(LOG)))


def is_plain(path: str) -> bool:
    """Whether it is of a run that touched nothing. Not for a file that this process writes."""
    return read_regular(path, len(PLAIN)) == PLAIN
