"""The progress of the hosts of a job, and its notices."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterable
from typing import Any

from saltern.fleet.ssh.drive import Done

Row = dict[str, Any]
ENDED = None  # the last notice
BACK = 600.0  # seconds in which a rebooting machine is expected back


class HostRows:
    """One row for each host; ``done`` has the returns of the hosts that have ended."""

    def __init__(self, jid: str) -> None:
        self.rows: dict[str, Row] = {}
        self.done: dict[str, Done] = {}
        self.notices: queue.Queue[Row | None] = queue.Queue()
        self._jid = jid

    def begin(self, systems: Iterable[str], status: str) -> None:
        for system in systems:
            self.rows[system] = _row(self._jid, system, status)

    def report(self, system: str, kind: str, head: Row) -> None:
        if kind in ("progress", "preparing"):
            if kind == "progress":
                self.set(system, "running")
            names = ("done", "total", "state", "outcome", "failed", "comment")
            self.notices.put(
                _progress(self._jid, system, {name: head[name] for name in names if name in head})
            )
        elif kind == "paused":
            self.set(
                system,
                "down",
                why=str(head.get("kind", "")),
                back_by=time.time() + (head.get("seconds") or BACK),
            )
        elif kind == "away" and self.rows[system]["status"] == "running":
            self.notices.put(_progress(self._jid, system, {"state": f"{head['why']}; trying again"}))

    def set(self, system: str, status: str, *, why: str = "", back_by: float | None = None) -> None:
        row = self.rows[system]
        if row["status"] != status:
            row.update(status=status, why=why, back_by=back_by, updated=time.time())
            self.notices.put(_notice(row))

    def finish(self, system: str, done: Done) -> None:
        self.done[system] = done
        row = self.rows[system]
        row.update(
            status=done.status,
            why=done.why if not done.body or done.problem else "",
            back_by=None,
            exit_code=done.code,
            changed=done.changed,
            failed=done.failed,
            updated=time.time(),
        )
        self.notices.put(_notice(row))


def _row(jid: str, system: str, status: str) -> Row:
    return {
        "jid": jid,
        "system": system,
        "status": status,
        "why": "",
        "exit_code": 0,
        "changed": 0,
        "failed": 0,
        "back_by": None,
        "updated": time.time(),
    }


def _notice(row: Row) -> Row:
    return {"kind": "status", "at": row["updated"], **{key: row[key] for key in row if key != "updated"}}


def _progress(jid: str, system: str, given: Row) -> Row:
    """The notice about the progress of a host."""
    return {"kind": "progress", "jid": jid, "system": system, "at": time.time(), **given}
