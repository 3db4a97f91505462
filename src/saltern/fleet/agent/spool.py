"""The spool: what an agent must not forget. One SQLite file; each call is one transaction, on disk when it
returns.

A job is ``waiting``, ``running``, ``returned`` (its return is here until a controller has stored it) or
``confirmed`` (nothing is left but its id, so that it is not run again). A disk that is full, or broken, is
``SpoolFailed``: then a job is refused, and not lost.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from msgspec import Struct

from saltern.fleet.protocol.messages import Job, Return
from saltern.system.private import make_private

WAITING, RUNNING, RETURNED, CONFIRMED = "waiting", "running", "returned", "confirmed"
SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS job (
    number INTEGER PRIMARY KEY, jid TEXT NOT NULL UNIQUE, state TEXT NOT NULL, job BLOB NOT NULL,
    received REAL NOT NULL, due REAL NOT NULL, expires REAL NOT NULL, attempt INTEGER NOT NULL DEFAULT 0,
    started REAL NOT NULL DEFAULT 0, cancel TEXT NOT NULL DEFAULT '', sent REAL NOT NULL DEFAULT 0,
    run TEXT NOT NULL DEFAULT '', records INTEGER NOT NULL DEFAULT 0, ended REAL NOT NULL DEFAULT 0,
    local INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS job_state ON job (state);
CREATE TABLE IF NOT EXISTS part (
    jid TEXT NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (jid, part)
) WITHOUT ROWID;
"""
FIELDS = "jid, state, job, received, due, expires, attempt, started, cancel, sent, run, records, local"


Statement = tuple[str, tuple[object, ...]]


class SpoolFailed(Exception):
    """The spool cannot be written or read; the text says why."""


class Entry(Struct, frozen=True, kw_only=True):
    """One job. ``due`` is when it may begin (splay), ``cancel`` is ``""``, ``soft`` or ``hard``; ``local``: a
    schedule of the machine asked for it, and no controller.
    """

    jid: str
    state: str
    job: Job
    received: float
    due: float
    expires: float
    attempt: int = 0
    started: float = 0.0
    cancel: str = ""
    sent: float = 0.0
    run: str = ""
    records: int = 0
    local: bool = False


class Spool:
    """Opened by one agent; ``":memory:"`` for tests and light agents."""

    def __init__(self, path: str) -> None:
        self.path = path
        if path != ":memory:":
            make_private(os.path.dirname(path))
        with self._explained():
            self._database = sqlite3.connect(path, isolation_level=None)
            if path != ":memory:":
                os.chmod(path, 0o600)
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=FULL")
            self._database.execute("PRAGMA cache_size=-256")  # KiB: an agent is small
            self._database.executescript(SCHEMA)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as problem:
            raise SpoolFailed(f"the spool {self.path} cannot be used: {problem}") from None

    def _do(self, *statements: Statement) -> int:
        return self._do_all(statements)

    def _do_all(self, statements: Iterable[Statement]) -> int:
        """All of them in one transaction; the number of rows that the first one changed."""
        with self._explained():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                changed = [self._database.execute(*one).rowcount for one in statements]
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise
        return changed[0]

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._explained():
            return self._database.execute(query, values).fetchall()

    # -- jobs ------------------------------------------------------------------------------------

    def add(self, job: Job, *, received: float, expires: float, due: float, local: bool = False) -> bool:
        """Write a job down; False if it is known already."""
        query = (
            "INSERT OR IGNORE INTO job (jid, state, job, received, due, expires, local)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        data = msgspec.json.encode(job)
        return self._do((query, (job.jid, WAITING, data, received, due, expires, int(local)))) == 1

    def entry(self, jid: str) -> Entry | None:
        return next(iter(self._entries("jid = ?", jid)), None)

    def open_entries(self) -> list[Entry]:
        """What waits or runs, in the order of arrival."""
        return self._entries("state IN (?, ?)", WAITING, RUNNING)

    def unconfirmed(self, limit: int = 1000) -> list[str]:
        """Jids whose returns are not known to be stored."""
        query = "SELECT jid FROM job WHERE state = ? AND local = 0 ORDER BY number LIMIT ?"
        return [jid for (jid,) in self._rows(query, RETURNED, limit)]

    def _entries(self, where: str, *values: object) -> list[Entry]:
        rows = self._rows(f"SELECT {FIELDS} FROM job WHERE {where} ORDER BY number", *values)
        return [_entry(row) for row in rows]

    def is_known(self, jid: str) -> bool:
        return bool(self._rows("SELECT 1 FROM job WHERE jid = ?", jid))

    def begin(self, jid: str, now: float) -> int:
        """The job runs from now on; the number of the attempt."""
        query = "UPDATE job SET state = ?, started = CASE started WHEN 0 THEN ? ELSE started END,"
        self._do((f"{query} attempt = attempt + 1 WHERE jid = ?", (RUNNING, now, jid)))
        entry = self.entry(jid)
        return entry.attempt if entry else 0

    def cancel(self, jid: str, how: str) -> None:
        self._do(("UPDATE job SET cancel = ? WHERE jid = ? AND cancel != 'hard'", (how, jid)))

    def set_run(self, jid: str, run: str) -> None:
        self._do(("UPDATE job SET run = ? WHERE jid = ?", (run, jid)))

    def set_records(self, jid: str, records: int) -> None:
        """All records before this number are stored at the broker."""
        self._do(("UPDATE job SET records = ? WHERE jid = ?", (records, jid)))

    # -- returns ---------------------------------------------------------------------------------

    def finish(self, parts: Iterable[Return], now: float) -> None:
        """Keep the return of a job, all its parts at once, until it is confirmed."""
        insert = "INSERT OR REPLACE INTO part VALUES (?, ?, ?)"
        ended = "UPDATE job SET state = ?, ended = ? WHERE jid = ?"
        self._do_all(
            statement
            for part in parts
            for statement in (
                (insert, (part.jid, part.part, msgspec.json.encode(part))),
                (ended, (RETURNED, now, part.jid)),
            )
        )

    def due_returns(self, sent_before: float) -> list[str]:
        """Jids whose returns were not sent since then, in the order in which they ended."""
        query = "SELECT jid FROM job WHERE state = ? AND local = 0 AND sent < ? ORDER BY ended, number"
        return [jid for (jid,) in self._rows(query, RETURNED, sent_before)]

    def part_numbers(self, jid: str) -> list[int]:
        return [part for (part,) in self._rows("SELECT part FROM part WHERE jid = ? ORDER BY part", jid)]

    def part(self, jid: str, number: int) -> bytes:
        """One message of a return, as it is sent; empty if it is gone."""
        rows = self._rows("SELECT data FROM part WHERE jid = ? AND part = ?", jid, number)
        return bytes(rows[0][0]) if rows else b""

    def mark_sent(self, jid: str, now: float) -> None:
        self._do(("UPDATE job SET sent = ? WHERE jid = ?", (now, jid)))

    def confirm(self, jid: str) -> bool:
        """The controller has the return: nothing but the id is kept. False if there was none to confirm."""
        return (
            self._do(
                (
                    "UPDATE job SET state = ?, job = x'' WHERE jid = ? AND state = ?",
                    (CONFIRMED, jid, RETURNED),
                ),
                ("DELETE FROM part WHERE jid = ?", (jid,)),
            )
            == 1
        )

    def prune(self, *, expired_before: float, returned_before: float) -> list[str]:
        """Forget ids whose jobs have expired, and returns that were never confirmed; those jids."""
        lost = self._rows("SELECT jid FROM job WHERE state = ? AND ended < ?", RETURNED, returned_before)
        self._do(
            ("DELETE FROM job WHERE state = ? AND expires < ?", (CONFIRMED, expired_before)),
            ("DELETE FROM job WHERE state = ? AND ended < ?", (RETURNED, returned_before)),
            ("DELETE FROM part WHERE jid NOT IN (SELECT jid FROM job)", ()),
        )
        return [str(jid) for (jid,) in lost]

    def counts(self) -> dict[str, int]:
        rows = self._rows("SELECT state, count(*) FROM job GROUP BY state")
        return dict(rows)

    # -- the rest --------------------------------------------------------------------------------

    def get(self, key: str, default: str = "") -> str:
        rows = self._rows("SELECT value FROM meta WHERE key = ?", key)
        return str(rows[0][0]) if rows else default

    def put(self, key: str, value: str) -> None:
        self._do(("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value)))

    def close(self) -> None:
        self._database.close()


def _entry(row: tuple[Any, ...]) -> Entry:
    values: dict[str, Any] = dict(zip(FIELDS.split(", "), row, strict=True))
    data = values.pop("job")
    job = msgspec.json.decode(data, type=Job) if data else Job(jid=values["jid"], function="")
    return Entry(**values | {"job": job, "local": bool(values["local"])})
