"""The file format of a journal, for writers and readers."""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec import MsgspecError, Struct, msgpack

from saltern.system import maker, mark
from saltern.system.regular import read_regular

FORMAT = 3  # increase it when older records can no longer be read
SUFFIX = ".run"
ASIDE = ".damaged"
KEY = ".key"  # the key of its secrets, see ``seal``
# The files of one journal: the file, those beside it in the previous format, and its mark.
SIDES = ("", "-wal", "-shm", mark.SUFFIX, KEY)
SEALED = "sealed"  # the record before the first that has a sealed secret
NEW = ".new"  # the suffix of a plain file that is being written, after the name of its writer
PLAIN = b"saltern run 1\n"  # the start of a file that is written at once, when the run ends
LOG = b"saltern run 3\n"  # the start of a file that grows: frames of records follow
HEAD = 8  # bytes before the body of a frame: its length and the checksum of its last record

# Suffixes of files that prove that a journal existed.
TRACES = ("", mark.SUFFIX, ASIDE, ASIDE + mark.SUFFIX)


class Record(Struct, frozen=True):
    seq: int
    kind: str
    body: object


class Damaged(Exception):
    """A journal that can never be read; the text says why."""


class Unreadable(Exception):
    """A journal that cannot be read here and now: of another user, of a later version, or locked."""


def names_in(folder: str, suffix: str) -> list[str]:
    """The journals of a folder by any of their files, the newest first."""
    ends = tuple(suffix + trace for trace in TRACES)
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return sorted(
        {name.rpartition(suffix)[0] for name in names if name.endswith(ends)}, key=age, reverse=True
    )


def new_path(path: str) -> str:
    """Where this process writes a plain file before it is complete."""
    return f"{path}.{maker.this_process().word}{NEW}"


def remove_unfinished(folder: str) -> None:
    """Remove incomplete plain files whose writers were killed."""
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
    """Remove the key of the journal at ``path``, if it exists: its run is over."""
    with suppress(FileNotFoundError):
        os.remove(path + KEY)


def age(name: str) -> tuple[int, str]:
    """A key that sorts run names by age: a number with more digits is later."""
    return (len(name) if name.isdigit() else 0, name)


def is_aside(path: str) -> bool:
    """True if the journal was damaged and moved aside."""
    there = any(os.path.lexists(path + side) for side in ("", mark.SUFFIX))
    return not there and any(os.path.lexists(path + ASIDE + side) for side in ("", mark.SUFFIX))


def checksum(seq: int, kind: str, body: bytes, before: int = 0) -> int:
    """The checksum of a record; ``before`` is that of the previous record, so the last covers all."""
    return crc32(body, crc32(f"{seq} {kind}".encode(), before))


class Frame(Struct, frozen=True):
    """Records that were written together. ``first``: the number of the first; ``end``: the end offset of the
    frame; ``chain``: the checksum of the last record, which covers all earlier ones."""

    first: int
    rows: Sequence[tuple[str, bytes]]
    end: int
    chain: int


def encode_frame(rows: Sequence[tuple[int, str, bytes]], before: int) -> tuple[bytes, int]:
    """A frame of these records after a record with the checksum ``before``; and the checksum of the last."""
    chain = before
    for row in rows:
        chain = checksum(*row, chain)
    body = msgpack.encode([(kind, data) for _, kind, data in rows])
    return len(body).to_bytes(4) + chain.to_bytes(4) + body, chain


def frames(data: bytes) -> Iterator[Frame]:
    """The frames of a log, up to the first that is incomplete or damaged."""
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
    """False if the file was written at once, or by a version before this format. An empty file will be a
    log.
    """
    return LOG.startswith(read_regular(path, len(LOG)))


def is_plain(path: str) -> bool:
    """True if the file is of a run that changed nothing. Not for a file that this process writes."""
    return read_regular(path, len(PLAIN)) == PLAIN
