"""Journals of formats 1 and 2, which were SQLite databases: read them, and convert them when a run
continues.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress

from msgspec import msgpack

from saltern.journal.form import LOG, Damaged, Record, Unreadable, checksum, encode_frame, new_path
from saltern.system import mark
from saltern.system.atomic import sync_directory
from saltern.system.faults import point
from saltern.system.mark import Mark
from saltern.system.regular import open_regular

CHAINED = 2  # since this format, the checksum of a record includes that of the previous record
LAST = 2  # the last format that was a database
BESIDE = ("-wal", "-shm")  # suffixes of files that SQLite keeps beside a database
# SQLite writes beside a file even to read it: without that, an unwritten file can be read on any disk.
UNCHANGED = "&immutable=1"
Row = tuple[int, str, bytes]


def read_database(path: str, marked: Mark | None) -> list[Record]:
    """All committed records. Raises ``Damaged`` and ``Unreadable``."""
    return [Record(seq, kind, msgpack.decode(body, strict=False)) for seq, kind, body in _rows(path, marked)]


def convert(path: str) -> None:
    """Replace a database with a log of the same records, durable. Its mark is valid for both."""
    rows = _rows(path, mark.read(path))
    frame = encode_frame(rows, 0)[0] if rows else b""
    fresh = new_path(path)
    file = open_regular(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with os.fdopen(file, "wb") as out:
        out.write(LOG + frame)
        out.flush()
        os.fsync(out.fileno())
    point("journal.converted")
    os.replace(fresh, path)
    for suffix in BESIDE:
        with suppress(FileNotFoundError):
            os.remove(path + suffix)
    sync_directory(os.path.dirname(path))


def _rows(path: str, marked: Mark | None) -> list[Row]:
    try:
        try:
            return _look(_address(path), marked)
        except sqlite3.OperationalError as problem:
            if not _is_at_rest(path, problem):
                raise
            return _look(_address(path) + UNCHANGED, marked)
    except sqlite3.OperationalError as problem:  # locked, no permission, a disk that does not answer
        raise Unreadable(str(problem)) from None
    except sqlite3.Error as problem:
        raise Damaged(str(problem)) from None


def _is_at_rest(path: str, problem: sqlite3.OperationalError) -> bool:
    """True if no process holds the file and its WAL is absent or empty."""
    if problem.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return False
    return not os.path.exists(f"{path}-wal") or os.path.getsize(f"{path}-wal") == 0


def _look(address: str, marked: Mark | None) -> list[Row]:
    with closing(sqlite3.connect(address, uri=True, timeout=30)) as database:
        return list(_stored_rows(database, marked))


def _address(path: str) -> str:
    for special in "%?#":
        path = path.replace(special, f"%{ord(special):x}")
    return f"file:{path}?mode=rw"


def _stored_rows(database: sqlite3.Connection, marked: Mark | None) -> Iterator[Row]:
    if not _has_schema(database):
        return  # created, and nothing committed yet
    (known,) = database.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() or ("0",)
    if int(known) > LAST:
        raise Unreadable(f"it is a database of format {known}, and the last of these was {LAST}")
    chained = int(known) >= CHAINED
    if chained and marked is None:
        raise Damaged("the mark of how far it was written is gone")
    (state,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if state != "ok":
        raise Damaged(str(state))
    rows = database.execute("SELECT seq, kind, body, crc FROM record ORDER BY seq")
    before = 0
    for expected, (seq, kind, body, crc) in enumerate(rows):
        if seq != expected:
            raise Damaged(f"record {expected} is missing")
        if checksum(seq, kind, body, before if chained else 0) != crc:
            raise Damaged(f"record {seq} is not what was written")
        if marked is not None and seq + 1 == marked.written and crc != marked.chain:
            raise Damaged(f"record {seq} is not the one that was written by this run")
        before = crc
        yield seq, kind, body


def _has_schema(database: sqlite3.Connection) -> bool:
    found = database.execute("SELECT count(*) FROM sqlite_master WHERE name IN ('meta', 'record')").fetchone()
    return bool(found[0] == 2)
