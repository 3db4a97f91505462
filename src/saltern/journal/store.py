"""One file for each run: an SQLite database in WAL mode, written by one process, only ever added to.

Records wait in memory until something must be durable: then all of them are written in one transaction,
and synced. A run that ends without having touched anything leaves a plain file of the same records.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import MsgspecError, Struct, msgpack

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.faults import point

if TYPE_CHECKING:
    import sqlite3

FORMAT = 1  # raise it when records of before can no longer be read
SUFFIX = ".run"
DEEPEST = 200  # levels of data that are kept
PLAIN = b"saltern run 1\n"  # how a file begins that is no database
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE record (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, body BLOB NOT NULL);
"""


class Record(Struct, frozen=True):
    seq: int
    kind: str
    body: object


class Damaged(Exception):
    """A journal that cannot be read; the text says why."""


class Writer:
    """Adds records. ``sync`` makes them durable, or raises ``OperationError``: then nothing may act."""

    def __init__(self, path: str, *, resumed_at: int = 0) -> None:
        self.path = path
        self._next = resumed_at
        self._waiting: list[tuple[int, str, bytes]] = []
        self._database: sqlite3.Connection | None = None
        self._encoder = msgpack.Encoder(enc_hook=_as_text, order=None)
        self._rows: list[tuple[object, ...]] = []
        self._broken = ""
        self._writing = False

    def add_row(self, row: tuple[object, ...]) -> None:
        """One of many short ones: those that follow each other become one record, ``rows``."""
        self._rows.append(row)

    def add(self, kind: str, body: object) -> None:
        self._gather()
        try:
            data = self._encoder.encode(body)
        except (OverflowError, TypeError, ValueError, RecursionError):
            data = self._encoder.encode(_tame(body))
        self._waiting.append((self._next, kind, data))
        self._next += 1

    def _gather(self) -> None:
        if self._rows:
            rows, self._rows = self._rows, []
            self.add("rows", rows)

    def sync(self) -> None:
        """A write that failed is not tried again: nobody knows what of it is on the disk."""
        if self._broken:
            raise _stopped(self.path, self._broken)
        self._gather()
        if not self._waiting or self._writing:  # to write it down is an effect, too, but not one of the run
            return
        self._writing = True
        try:
            self._commit()
        finally:
            self._writing = False

    def _commit(self) -> None:
        import sqlite3

        point("journal.write")
        try:
            database = self._database or self._open()
            with database:
                database.executemany("INSERT INTO record VALUES (?, ?, ?)", self._waiting)
                point("journal.commit")
        except (sqlite3.Error, OSError) as problem:
            self._broken = str(problem)
            raise _stopped(self.path, self._broken) from None
        point("journal.synced")
        self._waiting.clear()

    def finish(self) -> None:
        """The run has ended. If nothing had to be durable before, nothing has to be now."""
        if self._database is not None or self._next > len(self._waiting):
            self.sync()
            return
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        place = f"{self.path}.new"
        try:
            file = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(file, "wb") as out:
                out.write(PLAIN + msgpack.encode([(kind, body) for _, kind, body in self._waiting]))
            os.replace(place, self.path)
        except OSError as problem:
            raise _stopped(self.path, str(problem)) from None
        self._waiting.clear()

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open(self) -> sqlite3.Connection:
        import sqlite3

        new = not os.path.exists(self.path)
        if new:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            point("journal.created")
        self._database = database = sqlite3.connect(self.path, isolation_level="IMMEDIATE", timeout=30)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
        if new or not _has_schema(database):
            with database:
                for statement in SCHEMA.split(";"):
                    if statement.strip():
                        database.execute(statement)
                database.execute("INSERT INTO meta VALUES ('format', ?)", (str(FORMAT),))
            _sync_directory(os.path.dirname(self.path))
        return database


def read(path: str) -> list[Record]:
    """All records that were committed. Raises ``Damaged``."""
    return list(_records(path))


def _records(path: str) -> Iterator[Record]:
    import sqlite3

    if not os.path.isfile(path):
        raise Damaged("there is no such file")
    with open(path, "rb") as file:
        if file.read(len(PLAIN)) == PLAIN:
            yield from _plain(file.read())
            return
    try:
        database = sqlite3.connect(f"file:{path}?mode=rw", uri=True, timeout=30)
        try:
            if not _has_schema(database):
                return  # created, and nothing committed yet
            (known,) = database.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() or ("0",)
            if int(known) > FORMAT:
                raise Damaged(f"it has format {known}, and this version reads up to {FORMAT}")
            (state,) = database.execute("PRAGMA quick_check(1)").fetchone()
            if state != "ok":
                raise Damaged(str(state))
            rows = database.execute("SELECT seq, kind, body FROM record ORDER BY seq")
            for expected, (seq, kind, body) in enumerate(rows):
                if seq != expected:
                    raise Damaged(f"record {expected} is missing")
                yield Record(seq, kind, msgpack.decode(body, strict=False))
        finally:
            database.close()
    except (sqlite3.Error, ValueError, TypeError) as problem:
        raise Damaged(str(problem)) from None


def _plain(data: bytes) -> Iterator[Record]:
    try:
        for seq, (kind, body) in enumerate(msgpack.decode(data, type=list[tuple[str, bytes]])):
            yield Record(seq, kind, msgpack.decode(body, strict=False))
    except MsgspecError as problem:
        raise Damaged(str(problem)) from None


def quarantine(path: str) -> str:
    """Put a damaged journal aside, with its side files; the new place."""
    place = f"{path}.damaged"
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.replace(path + suffix, place + suffix)
    return place


def _has_schema(database: sqlite3.Connection) -> bool:
    found = database.execute("SELECT count(*) FROM sqlite_master WHERE name IN ('meta', 'record')").fetchone()
    return bool(found[0] == 2)


def _sync_directory(folder: str) -> None:
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(place)
    finally:
        os.close(place)


def _as_text(value: object) -> object:
    """What MessagePack has no form for: sets become lists, anything else its text."""
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    return str(value)


def _tame(value: object, depth: int = 0) -> object:
    """What cannot be written as it is: huge numbers, half characters, odd keys, what has no end."""
    if depth > DEEPEST:
        return "…"
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, Mapping):
        return {
            _tame(key, depth + 1) if isinstance(key, str | int) else str(key): _tame(inner, depth + 1)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [_tame(inner, depth + 1) for inner in value]
    return value


def _stopped(path: str, why: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="journal-failed",
            what=f"the journal {path} cannot be written: {why}",
            fix="nothing more was done; make room or mend the disk, then run `saltern resume`",
        )
    )
