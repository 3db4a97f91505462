"""A fleet without a controller: jobs on the hosts of a roster, from the calling process.

It answers what the command line asks of a controller, so that a job is shown in the same way.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from typing import Any

from saltern.fleet.protocol.batch import Batch
from saltern.fleet.protocol.codec import Body, unpack_body
from saltern.fleet.ssh.drive import Done, Drive, Reach, Work
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.turns import HELD, HostTurns

Row = dict[str, Any]
ENDED = None
CLOSE = 10.0  # seconds
BACK = 600.0  # seconds in which a machine that reboots is expected again


async def nothing() -> None:
    """Close nothing."""


class SshController:
    """One job on many hosts. It runs in a thread of its own; notices come through a queue."""

    def __init__(
        self,
        jid: str,
        hosts: Sequence[Host],
        reach: Reach,
        work_for: Callable[[Host], Work],
        *,
        batch: Batch | None = None,
        close: Callable[[], Awaitable[None]] = nothing,
    ) -> None:
        """``close`` is awaited when all hosts are done, in the loop that has used them. With ``batch`` a few
        hosts run at a time.
        """
        self._close = close
        self.jid = jid
        self._hosts = {host.id: host for host in hosts}
        self._reach = reach
        self._work_for = work_for
        self._notices: queue.Queue[Row | None] = queue.Queue()
        self._rows: dict[str, Row] = {}
        self._done: dict[str, Done] = {}
        self._drives: dict[str, Drive] = {}
        self._turns = HostTurns(batch, self._rows, self._turn, self._stop) if batch is not None else None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def jobs(self) -> SshController:
        return self

    # -- what the command line asks -------------------------------------------------------------------

    def submit(self) -> Row:
        """Begin."""
        for system in self._hosts:
            self._rows[system] = _row(self.jid, system, HELD if self._turns is not None else "sent")
        self._thread.start()
        return {"jid": self.jid, "expected": list(self._hosts), "away": {}, "expires": 0.0}

    def targets(self, _jid: str) -> Iterator[Row]:
        yield from list(self._rows.values())

    def returns(self, jid: str) -> Iterator[Row]:
        for system in list(self._done):
            if self._done[system].body:
                yield self.returned(jid, system)

    def returned(self, _jid: str, system: str) -> Row:
        done = self._done[system]
        packed = Body(encoding=done.encoding, size=done.size, parts=(done.body,))
        return {**self._rows[system], "body": unpack_body(packed) if done.body else None}

    def cancel(self, _jid: str, *, hard: bool = False) -> None:
        if self._turns is not None:
            self._loop.call_soon_threadsafe(self._turns.cancel)
        for drive in list(self._drives.values()):
            asyncio.run_coroutine_threadsafe(drive.cancel(hard=hard), self._loop)

    def ended(self) -> list[str]:
        """The hosts on which it has ended, as they say themselves."""
        return [system for system, done in list(self._done.items()) if done.body and not done.problem]

    def close(self) -> None:
        """Wait until nothing is left of it; what still runs on a host is left alone."""
        if len(self._done) == len(self._hosts):
            self._thread.join(CLOSE)

    def follow(self, _jid: str, *, after: int | None, on_break: object) -> Iterator[Row]:  # noqa: ARG002
        while (notice := self._notices.get()) is not ENDED:
            yield notice

    # -- the hosts --------------------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._all())
        finally:
            self._notices.put(ENDED)

    async def _all(self) -> None:
        try:
            if self._turns is not None:
                await self._turns.run()
            else:
                await asyncio.gather(*(self._one(host) for host in self._hosts.values()))
        finally:
            await self._reach.transport.close()
            await self._close()

    def _turn(self, system: str) -> Coroutine[Any, Any, None]:
        self._set(system, "sent")
        return self._one(self._hosts[system])

    def _stop(self, systems: Iterable[str], status: str, why: str) -> None:
        for system in systems:
            self._finish(system, Done(status=status, why=why))

    async def _one(self, host: Host) -> None:
        def on_progress(kind: str, head: Row) -> None:
            self._report(host.id, kind, head)

        try:
            work = await asyncio.to_thread(self._work_for, host)
            drive = self._drives[host.id] = Drive(host, work, self._reach, on_progress)
            done = await drive.run()
        except Exception as problem:  # one host's trouble is not another's
            done = Done(status="indeterminate", why=f"a mistake of ours: {problem!r}", code=70)
        self._finish(host.id, done)

    def _report(self, system: str, kind: str, head: Row) -> None:
        if kind == "progress":
            self._set(system, "running")
            names = ("done", "total", "state", "outcome", "failed", "comment")
            given = {name: head[name] for name in names if name in head}
            self._notices.put(
                {"kind": "progress", "jid": self.jid, "system": system, "at": time.time(), **given}
            )
        elif kind == "paused":
            self._set(
                system,
                "down",
                why=str(head.get("kind", "")),
                back_by=time.time() + (head.get("seconds") or BACK),
            )
        elif kind == "away" and self._rows[system]["status"] == "running":
            state = f"{head['why']}; trying again"
            self._notices.put(
                {"kind": "progress", "jid": self.jid, "system": system, "at": time.time(), "state": state}
            )

    def _set(self, system: str, status: str, *, why: str = "", back_by: float | None = None) -> None:
        row = self._rows[system]
        if row["status"] != status:
            row.update(status=status, why=why, back_by=back_by, updated=time.time())
            self._notices.put(_notice(row))

    def _finish(self, system: str, done: Done) -> None:
        self._done[system] = done
        row = self._rows[system]
        row.update(
            status=done.status,
            why=done.why if not done.body or done.problem else "",
            back_by=None,
            exit_code=done.code,
            changed=done.changed,
            failed=done.failed,
            updated=time.time(),
        )
        self._notices.put(_notice(row))


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
