"""The spool: the durable state of an agent. One SQLite file; each call is one transaction, on disk when it
returns.

A job is ``waiting``, ``running``, ``returned`` (its return is here until a controller has stored it) or
``confirmed`` (only its id is left, so that it is not run again). A full or broken disk raises
``SpoolFailed``: then a job is refused, and not lost.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from saltern.fleet.agent.event_spool import EventSpool
from saltern.fleet.agent.spool_file import SpoolFile, Statement
from saltern.fleet.agent.unsent import RETURNED, TRIES, Unsent
from saltern.fleet.protocol.messages import Job, Records, Return

LOCAL, REPORTED = 1, 2  # a job that a schedule asked for: its return stays here, or is sent
WAITING, RUNNING, CONFIRMED = "waiting", "running", "confirmed"
SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS job (
    number INTEGER PRIMARY KEY, jid TEXT NOT NULL UNIQUE, state TEXT NOT NULL, job BLOB NOT NULL,
    received REAL NOT NULL, due REAL NOT NULL, expires REAL NOT NULL, attempt INTEGER NOT NULL DEFAULT 0,
    started REAL NOT NULL DEFAULT 0, cancel TEXT NOT NULL DEFAULT '', sent REAL NOT NULL DEFAULT 0,
    ended REAL NOT NULL DEFAULT 0, local INTEGER NOT NULL DEFAULT 0, changing INTEGER NOT NULL DEFAULT 1,
    follows TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS job_state ON job (state);
CREATE TABLE IF NOT EXISTS part (
    jid TEXT NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (jid, part)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batch (
    jid TEXT NOT NULL, first INTEGER NOT NULL, past INTEGER NOT NULL, data BLOB NOT NULL,
    sent REAL NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (jid, first)
) WITHOUT ROWID;
"""
FIELDS = "jid, state, job, received, due, expires, attempt, started, cancel, local"

OPEN = "jid, state, changing, follows, due, expires, cancel"


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
    local: int = 0


class Open(Struct, frozen=True):
    """A job that waits or runs, as the queue sees it; ``after`` is a jid, or empty."""

    jid: str
    state: str
    changing: int
    after: str
    due: float
    expires: float
    cancel: str


class Spool:
    """The spool of one agent; ``":memory:"`` for tests and light agents.

    ``mark`` is a word that no other agent knows. It is part of the ids of messages: the broker accepts each
    id once, no matter which agent sends it, so another agent could use up an id that can be guessed.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = SpoolFile(path, SCHEMA)
        self.unsent = Unsent(self._file)
        self.events = EventSpool(self._file)
        self.mark = self.get("mark") or secrets.token_hex(8)
        self.put("mark", self.mark)

    # -- jobs ------------------------------------------------------------------------------------

    def add(self, job: Job, *, received: float, expires: float, due: float, local: int = 0) -> bool:
        """Store a job; False if it is already known."""
        query = (
            "INSERT OR IGNORE INTO job (jid, state, job, received, due, expires, local, changing, follows)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        data = msgspec.json.encode(job)
        fields = (job.jid, WAITING, data, received, due, expires, int(local))
        return self._file.write((query, (*fields, int(job.changing), job.after or ""))) == 1

    def entry(self, jid: str) -> Entry | None:
        rows = self._file.rows(f"SELECT {FIELDS} FROM job WHERE jid = ?", jid)
        return _entry(rows[0]) if rows else None

    def open_jobs(self) -> list[Open]:
        """The jobs that wait or run, in the order of arrival, without what is only needed to run them."""
        query = f"SELECT {OPEN} FROM job WHERE state IN (?, ?) ORDER BY number"
        return [Open(*row) for row in self._file.rows(query, WAITING, RUNNING)]

    def unconfirmed_jids(self, limit: int = 1000) -> list[str]:
        """Jids whose returns, or whose records, are not known to be stored."""
        query = "SELECT jid FROM job WHERE (state = ? AND local != 1) OR jid IN (SELECT jid FROM batch)"
        return [jid for (jid,) in self._file.rows(f"{query} ORDER BY number LIMIT ?", RETURNED, limit)]

    def is_known(self, jid: str) -> bool:
        return bool(self._file.rows("SELECT 1 FROM job WHERE jid = ?", jid))

    def begin(self, jid: str, now: float) -> int:
        """Mark the job as running; return the number of the attempt."""
        query = "UPDATE job SET state = ?, started = CASE started WHEN 0 THEN ? ELSE started END,"
        self._file.write((f"{query} attempt = attempt + 1 WHERE jid = ?", (RUNNING, now, jid)))
        entry = self.entry(jid)
        return entry.attempt if entry else 0

    def cancel(self, jid: str, how: str) -> None:
        self._file.write(("UPDATE job SET cancel = ? WHERE jid = ? AND cancel != 'hard'", (how, jid)))

    # -- returns ---------------------------------------------------------------------------------

    def finish(self, messages: Iterable[Return | Records], now: float) -> None:
        """Store the result of a job until it is confirmed, in one transaction: records, or all parts of a
        return.
        """
        self._file.write_all(one for message in messages for one in _store_statements(message, now))

    def confirm(self, jid: str, *, returned: bool = True, records: int = 0) -> None:
        """Delete what the controller has; of a job whose return it has, keep only the id."""
        confirmed = "UPDATE job SET state = ?, job = x'' WHERE jid = ? AND state = ?"
        self._file.write(
            ("DELETE FROM batch WHERE jid = ? AND (past <= ? OR tries >= ?)", (jid, records, TRIES)),
            *([(confirmed, (CONFIRMED, jid, RETURNED))] if returned else []),
            *([("DELETE FROM part WHERE jid = ?", (jid,))] if returned else []),
        )

    def prune(self, *, expired_before: float, returned_before: float) -> list[str]:
        """Delete ids of expired jobs, and returns that were never confirmed; return the jids of the
        latter.
        """
        lost = self._file.rows("SELECT jid FROM job WHERE state = ? AND ended < ?", RETURNED, returned_before)
        self._file.write(
            ("DELETE FROM job WHERE state = ? AND expires < ?", (CONFIRMED, expired_before)),
            ("DELETE FROM job WHERE state = ? AND ended < ?", (RETURNED, returned_before)),
            ("DELETE FROM part WHERE jid NOT IN (SELECT jid FROM job)", ()),
            ("DELETE FROM batch WHERE jid NOT IN (SELECT jid FROM job)", ()),
        )
        return [str(jid) for (jid,) in lost]

    def counts(self) -> dict[str, int]:
        rows = self._file.rows("SELECT state, count(*) FROM job GROUP BY state")
        return dict(rows)

    # -- the rest --------------------------------------------------------------------------------

    def get(self, key: str, default: str = "") -> str:
        rows = self._file.rows("SELECT value FROM meta WHERE key = ?", key)
        return str(rows[0][0]) if rows else default

    def put(self, key: str, value: str) -> None:
        self._file.write(("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value)))

    def close(self) -> None:
        self._file.close()


def _store_statements(message: Return | Records, now: float) -> Iterator[Statement]:
    """The statements that store one message of a job that has ended."""
    data = msgspec.json.encode(message)
    if isinstance(message, Records):
        past = message.first + len(message.records)
        query = "INSERT OR REPLACE INTO batch (jid, first, past, data) VALUES (?, ?, ?, ?)"
        yield query, (message.jid, message.first, past, data)
    else:
        yield "INSERT OR REPLACE INTO part VALUES (?, ?, ?)", (message.jid, message.part, data)
        yield "UPDATE job SET state = ?, ended = ? WHERE jid = ?", (RETURNED, now, message.jid)


def _entry(row: tuple[Any, ...]) -> Entry:
    values: dict[str, Any] = dict(zip(FIELDS.split(", "), row, strict=True))
    data = values.pop("job")
    job = msgspec.json.decode(data, type=Job) if data else Job(jid=values["jid"], function="")
    return Entry(**values | {"job": job})
