"""Read journals, even while they are written; move damaged ones aside, remove old ones."""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec import MsgspecError, msgpack

from saltern.journal.form import (
    ASIDE,
    FORMAT,
    LOG,
    PLAIN,
    SIDES,
    Damaged,
    Record,
    Unreadable,
    checksum,
    frames,
)
from saltern.system import mark, reboot
from saltern.system.boot import is_same_boot
from saltern.system.faults import point
from saltern.system.mark import Mark, MarkDamaged
from saltern.system.ownership import foreign
from saltern.system.regular import is_other, open_regular

_NONSENSE = (ValueError, TypeError, OverflowError, RecursionError, MsgspecError)


def read(path: str) -> list[Record]:
    """All committed records. Raises ``Damaged`` and ``Unreadable``."""
    marked = _read_mark(path)  # first, since a concurrent writer only appends
    return _check_complete(_records(path, marked), marked)


def _read_mark(path: str) -> Mark | None:
    for suffix in SIDES:
        if why := foreign(path + suffix):
            raise Unreadable(f"{path + suffix} {why}; root reads only its own: chown it, or remove it")
        if is_other(path + suffix):
            raise Damaged(f"{path + suffix} is not a plain file")
    try:
        found = mark.read(path)
    except MarkDamaged as problem:
        raise Damaged(str(problem)) from None
    except OSError as problem:
        raise Unreadable(problem.strerror or str(problem)) from None
    if found is not None and found.written and not os.path.lexists(path):
        raise Damaged(f"the file is missing, and {found.written} records were written to it")
    return found


def _check_complete(records: list[Record], marked: Mark | None) -> list[Record]:
    """Check that all required records are there: only a power loss may have taken unsynced ones."""
    if marked is None or len(records) >= marked.written:
        return records
    kept = is_same_boot(dict(marked.boot), reboot.current().identity())
    least = marked.written if kept else marked.synced
    if len(records) < least:
        what = f"it ends after {len(records)} records, or the next is not what was written"
        raise Damaged(f"{what}; there were {least}")
    return records


def is_marked_over(path: str) -> bool:
    """True if its mark says that it has its last record. Raises ``Damaged``."""
    marked = _read_mark(path)
    return marked is not None and marked.over


def read_last(path: str) -> Record | None:
    """Only the last record. Raises like ``read``."""
    marked = _read_mark(path)
    found = _records(path, marked)
    if marked is not None and marked.written > (found[-1].seq + 1 if found else 0):
        raise Damaged(f"it ends before record {marked.written}")
    return found[-1] if found else None


def _records(path: str, marked: Mark | None) -> list[Record]:
    if marked is not None and not os.path.lexists(path):
        return []  # the process was killed before it wrote anything
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            data = file.read()
        if data.startswith(PLAIN):
            return list(_plain(data[len(PLAIN) :]))
        if data.startswith(LOG):
            return list(_log_records(data, marked))
        return _of_another_version(path, data, marked)
    except OSError as problem:
        raise Unreadable(problem.strerror or str(problem)) from None
    except _NONSENSE as problem:
        raise Damaged(str(problem)) from None


def _log_records(data: bytes, marked: Mark | None) -> Iterator[Record]:
    """The records of a log. Data after the last complete frame is incomplete, unless the mark counts it."""
    if marked is None:
        raise Damaged("the file that says how far it was written is missing")
    for frame in frames(data):
        last = frame.first + len(frame.rows)
        if last == marked.written and frame.chain != marked.chain:
            raise Damaged(f"record {last - 1} is not the one that was written by this run")
        for seq, (kind, body) in enumerate(frame.rows, frame.first):
            yield Record(seq, kind, msgpack.decode(body, strict=False))


def _of_another_version(path: str, data: bytes, marked: Mark | None) -> list[Record]:
    """The records of a file that was not begun, or is of a later or earlier version."""
    if LOG.startswith(data):
        return []
    import re

    if found := re.match(rb"saltern run (\d{1,9})\n", data):
        raise Unreadable(f"it has format {int(found[1])}, and this version of saltern reads up to {FORMAT}")
    from saltern.journal.old_form import read_database

    return read_database(path, marked)


def _plain(data: bytes) -> Iterator[Record]:
    if checksum(0, "", data[4:]) != int.from_bytes(data[:4], "big"):
        raise Damaged("it is not what was written")
    for seq, (kind, body) in enumerate(msgpack.decode(data[4:], type=list[tuple[str, bytes]])):
        yield Record(seq, kind, msgpack.decode(body, strict=False))


def quarantine(path: str) -> str:
    """Move a damaged journal aside, with its side files; return its new path."""
    aside = path + ASIDE
    for suffix in SIDES:
        point("journal.quarantine")
        if os.path.lexists(path + suffix):
            os.replace(path + suffix, aside + suffix)
    return aside
