"""Read journals, also while they are written; put aside what is damaged, remove what is old."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from msgspec import MsgspecError, msgpack

from saltern.journal.form import (
    ASIDE,
    CHAINED,
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
from saltern.system import mark, reboot
from saltern.system.boot import is_same_boot
from saltern.system.faults import point
from saltern.system.mark import Mark, MarkDamaged
from saltern.system.ownership import foreign
from saltern.system.regular import is_other, open_regular, read_regular

if TYPE_CHECKING:
    import sqlite3

# Even to read, SQLite writes beside a file: without that, one that is not written can be read on any disk.
UNCHANGED = "&immutable=1"


def read(path: str) -> list[Record]:
    """All records that were committed. Raises ``Damaged`` and ``Unreadable``."""
    marked = _marked(path)  # first, since a process that writes meanwhile only adds
    return _within(path, marked, lambda database: _checked(list(_stored(database, marked)), marked))


def _marked(path: str) -> Mark | None:
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
        raise Damaged(f"the file is gone, and {found.written} records were written to it")
    return found


def _checked(records: list[Record], marked: Mark | None) -> list[Record]:
    """All that must be there is there: only a loss of power may have taken what was not synced."""
    if marked is None or len(records) >= marked.written:
        return records
    kept = is_same_boot(dict(marked.boot), reboot.current().identity())
    least = marked.written if kept else marked.synced
    if len(records) < least:
        raise Damaged(f"it ends after {len(records)} records, and {least} were written")
    return records


def is_plain(path: str) -> bool:
    """Whether it is of a run that touched nothing. Not for a file that this process writes."""
    return read_regular(path, len(PLAIN)) == PLAIN


def is_marked_over(path: str) -> bool:
    """Whether its mark says that it has its last record. Raises ``Damaged``."""
    marked = _marked(path)
    return marked is not None and marked.over


def read_last(path: str) -> Record | None:
    """The last record alone, for those who need no more. Raises as ``read``."""
    marked = _marked(path)
    found = _within(path, marked, _newest)
    if marked is not None and marked.written > (found[-1].seq + 1 if found else 0):
        raise Damaged(f"it ends before record {marked.written}")
    return found[-1] if found else None


def _within(
    path: str, marked: Mark | None, look: Callable[[sqlite3.Connection], list[Record]]
) -> list[Record]:
    """A plain file's records, or what ``look`` finds in a database."""
    if marked is not None and not os.path.lexists(path):
        return []  # killed before anything was written
    try:
        # To close a file takes all locks of the process from it, those of SQLite, too: another process would
        # then believe that no process writes there, and remove the WAL.
        if identity(path) not in open_here:
            with os.fdopen(open_regular(path), "rb") as file:
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
    """True if no process holds the file and its WAL is absent or empty."""
    import sqlite3

    if problem.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return False
    return not os.path.exists(f"{path}-wal") or os.path.getsize(f"{path}-wal") == 0


def _look(address: str, look: Callable[[sqlite3.Connection], list[Record]]) -> list[Record]:
    import sqlite3

    with closing(sqlite3.connect(address, uri=True, timeout=30)) as database:
        return look(database)


_NONSENSE = (ValueError, TypeError, OverflowError, RecursionError, MsgspecError)


def _address(path: str) -> str:
    for special in "%?#":
        path = path.replace(special, f"%{ord(special):x}")
    return f"file:{path}?mode=rw"


def _stored(database: sqlite3.Connection, marked: Mark | None) -> Iterator[Record]:
    if not has_schema(database):
        return  # created, and nothing committed yet
    (known,) = database.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() or ("0",)
    if int(known) > FORMAT:
        raise Unreadable(f"it has format {known}, and this version of saltern reads up to {FORMAT}")
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
    """Put a damaged journal aside, with its side files; its new path."""
    aside = path + ASIDE
    for suffix in SIDES:
        point("journal.quarantine")
        if os.path.lexists(path + suffix):
            os.replace(path + suffix, aside + suffix)
    return aside


def remove(path: str) -> None:
    """Its mark says first that nothing is missed: a kill in between leaves no damaged run."""
    if os.path.lexists(path + mark.SUFFIX):
        file = mark.create(path)
        mark.write(file, Mark())
        os.close(file)
    for suffix in SIDES:
        point("journal.remove")
        if os.path.lexists(path + suffix):
            os.remove(path + suffix)
