"""Read what journals hold, whoever writes them meanwhile; put aside what is damaged, remove what is old."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from msgspec import msgpack

from saltern.journal.form import (
    FORMAT,
    PLAIN,
    SIDES,
    Damaged,
    Record,
    Unreadable,
    checksum,
    has_schema,
    identity,
    open_here,
)
from saltern.system.faults import point

if TYPE_CHECKING:
    import sqlite3

# Even to read, SQLite writes beside a file: without that, one that nobody writes can be read on any disk.
UNCHANGED = "&immutable=1"


def read(path: str) -> list[Record]:
    """All records that were committed. Raises ``Damaged`` and ``Unreadable``."""
    return _within(path, lambda database: list(_stored(database)))


def is_plain(path: str) -> bool:
    """Whether it is of a run that touched nothing. Not for a file that this process writes."""
    with open(path, "rb") as file:
        return file.read(len(PLAIN)) == PLAIN


def read_last(path: str) -> Record | None:
    """The last record alone, for those who need no more. Raises as ``read``."""
    found = _within(path, _newest)
    return found[-1] if found else None


def _within(path: str, look: Callable[[sqlite3.Connection], list[Record]]) -> list[Record]:
    """A plain file's records, or what ``look`` finds in a database."""
    try:
        # To close a file takes all locks of the process from it, those of SQLite, too: another process would
        # then believe that nobody writes there, and remove the WAL.
        if identity(path) not in open_here:
            with open(path, "rb") as file:
                if file.read(len(PLAIN)) == PLAIN:
                    return list(_plain(file.read()))
    except OSError as problem:
        raise Unreadable(problem.strerror or str(problem)) from None
    except _NONSENSE as problem:
        raise Damaged(str(problem)) from None
    import sqlite3

    try:
        try:
            return _look(_address(path), look)
        except sqlite3.OperationalError as problem:
            if not _is_at_rest(path, problem):
                raise
            return _look(_address(path) + UNCHANGED, look)
    except sqlite3.OperationalError as problem:  # locked, no permission, a disk that does not answer
        raise Unreadable(str(problem)) from None
    except (sqlite3.Error, *_NONSENSE) as problem:
        raise Damaged(str(problem)) from None


def _is_at_rest(path: str, problem: sqlite3.OperationalError) -> bool:
    """Nobody has it, and there is no WAL; one that is empty is of a vain attempt to read."""
    import sqlite3

    if problem.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return False
    return not os.path.exists(f"{path}-wal") or os.path.getsize(f"{path}-wal") == 0


def _look(address: str, look: Callable[[sqlite3.Connection], list[Record]]) -> list[Record]:
    import sqlite3

    with closing(sqlite3.connect(address, uri=True, timeout=30)) as database:
        return look(database)


_NONSENSE = (ValueError, TypeError, OverflowError, RecursionError)


def _address(path: str) -> str:
    for special in "%?#":
        path = path.replace(special, f"%{ord(special):x}")
    return f"file:{path}?mode=rw"


def _stored(database: sqlite3.Connection) -> Iterator[Record]:
    if not has_schema(database):
        return  # created, and nothing committed yet
    (known,) = database.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() or ("0",)
    if int(known) > FORMAT:
        raise Unreadable(f"it has format {known}, and this version of saltern reads up to {FORMAT}")
    (state,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if state != "ok":
        raise Damaged(str(state))
    rows = database.execute("SELECT seq, kind, body, crc FROM record ORDER BY seq")
    for expected, (seq, kind, body, crc) in enumerate(rows):
        if seq != expected:
            raise Damaged(f"record {expected} is missing")
        if checksum(seq, kind, body) != crc:
            raise Damaged(f"record {seq} is not what was written")
        yield Record(seq, kind, msgpack.decode(body, strict=False))


def _newest(database: sqlite3.Connection) -> list[Record]:
    rows = (
        database.execute("SELECT seq, kind, body FROM record ORDER BY seq DESC LIMIT 1")
        if has_schema(database)
        else ()
    )
    return [Record(seq, kind, msgpack.decode(body, strict=False)) for seq, kind, body in rows]


def _plain(data: bytes) -> Iterator[Record]:
    if checksum(0, "", data[4:]) != int.from_bytes(data[:4], "big"):
        raise Damaged("it is not what was written")
    for seq, (kind, body) in enumerate(msgpack.decode(data[4:], type=list[tuple[str, bytes]])):
        yield Record(seq, kind, msgpack.decode(body, strict=False))


def quarantine(path: str) -> str:
    """Put a damaged journal aside, with its side files; the new place."""
    place = f"{path}.damaged"
    for suffix in SIDES:
        point("journal.quarantine")
        if os.path.exists(path + suffix):
            os.replace(path + suffix, place + suffix)
    return place


def remove(path: str) -> None:
    for suffix in SIDES:
        point("journal.remove")
        if os.path.exists(path + suffix):
            os.remove(path + suffix)
