"""Returns and records of ended jobs that must be sent until a controller has them."""

from __future__ import annotations

from saltern.fleet.agent.spool_file import SpoolFile

TRIES = 5  # how often records are sent that no controller confirms
RETURNED = "returned"  # the state of a job whose return is in the spool


class Unsent:
    """What the spool must send, and when it was last sent."""

    def __init__(self, file: SpoolFile) -> None:
        self._file = file

    def due_returns(self, sent_before: float) -> list[tuple[str, float]]:
        """Jobs whose returns were not sent since then, and when they ended, ordered by that."""
        query = (
            "SELECT jid, ended FROM job WHERE state = ? AND local != 1 AND sent < ? ORDER BY ended, number"
        )
        return self._file.rows(query, RETURNED, sent_before)

    def part_numbers(self, jid: str) -> list[int]:
        return [part for (part,) in self._file.rows("SELECT part FROM part WHERE jid = ? ORDER BY part", jid)]

    def part(self, jid: str, number: int) -> bytes:
        """One message of a return as it is sent; empty if it no longer exists."""
        rows = self._file.rows("SELECT data FROM part WHERE jid = ? AND part = ?", jid, number)
        return bytes(rows[0][0]) if rows else b""

    def mark_sent(self, jid: str, now: float) -> None:
        self._file.write(("UPDATE job SET sent = ? WHERE jid = ?", (now, jid)))

    def due_batches(self, sent_before: float) -> list[tuple[str, int]]:
        """Batches of records that were not sent since then: jid and first number. Returns are sent first."""
        query = "SELECT jid, first FROM batch WHERE sent < ? AND tries < ? AND jid NOT IN"
        unsent = "(SELECT jid FROM job WHERE state = ? AND sent = 0)"
        return self._file.rows(f"{query} {unsent} ORDER BY jid, first", sent_before, TRIES, RETURNED)

    def batch(self, jid: str, first: int) -> bytes:
        rows = self._file.rows("SELECT data FROM batch WHERE jid = ? AND first = ?", jid, first)
        return bytes(rows[0][0]) if rows else b""

    def mark_batch(self, jid: str, first: int, now: float) -> None:
        query = "UPDATE batch SET sent = ?, tries = tries + 1 WHERE jid = ? AND first = ?"
        self._file.write((query, (now, jid, first)))
