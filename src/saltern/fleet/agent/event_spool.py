"""Events that wait in the spool: sent until a controller has stored them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from msgspec import Struct

from saltern.fleet.agent.spool_file import SpoolFile

SCHEMA = """
CREATE TABLE IF NOT EXISTS event (
    number INTEGER PRIMARY KEY AUTOINCREMENT, data BLOB NOT NULL, at REAL NOT NULL,
    sent REAL NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0
);
"""
MOST = 100_000  # events that may wait


class Waiting(Struct, frozen=True):
    """One event as it is sent, and how often it was sent."""

    number: int
    data: bytes
    tries: int


class EventSpool:
    """The table of events. ``prefix`` is new for each spool, so ids differ from those of a lost spool."""

    def __init__(self, file: SpoolFile) -> None:
        self._file = file
        file.write((SCHEMA, ()))
        rows = file.rows("SELECT value FROM meta WHERE key = 'events'")
        self.prefix = str(rows[0][0]) if rows else secrets.token_hex(6)
        if not rows:
            file.write(("INSERT INTO meta VALUES ('events', ?)", (self.prefix,)))

    def add(self, data: bytes, now: float) -> bool:
        """Store an event; False if too many wait."""
        query = "INSERT INTO event (data, at) SELECT ?, ? WHERE (SELECT count(*) FROM event) < ?"
        return self._file.write((query, (data, now, MOST))) == 1

    def due(self, sent_before: float, limit: int) -> list[Waiting]:
        """The oldest events that were not sent since then."""
        query = "SELECT number, data, tries FROM event WHERE sent < ? ORDER BY number LIMIT ?"
        return [Waiting(*row) for row in self._file.rows(query, sent_before, limit)]

    def mark_sent(self, numbers: Sequence[int], now: float) -> None:
        query = "UPDATE event SET sent = ?, tries = tries + 1 WHERE number = ?"
        self._file.write_all([(query, (now, number)) for number in numbers])

    def sent_ids(self, limit: int = 1000) -> list[str]:
        """The ids of events that were sent and are not confirmed, the oldest first."""
        query = "SELECT number FROM event WHERE sent > 0 ORDER BY number LIMIT ?"
        return [self.uid(number) for (number,) in self._file.rows(query, limit)]

    def uid(self, number: int) -> str:
        return f"{self.prefix}.{number}"

    def confirm(self, uids: Sequence[str]) -> None:
        """Forget events that a controller has stored."""
        numbers = [one.removeprefix(f"{self.prefix}.") for one in uids if one.startswith(f"{self.prefix}.")]
        rows = [("DELETE FROM event WHERE number = ?", (int(one),)) for one in numbers if one.isdecimal()]
        if rows:
            self._file.write_all(rows)

    def prune(self, before: float) -> int:
        """Drop events that no controller has stored; return how many."""
        return self._file.write(("DELETE FROM event WHERE at < ?", (before,)))

    def count(self) -> int:
        return int(self._file.rows("SELECT count(*) FROM event")[0][0])
