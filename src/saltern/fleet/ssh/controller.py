"""A fleet without a controller: jobs on the hosts of a roster, from the calling process.

It has the interface that the command line uses of a controller, so that a job is shown in the same way.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from typing import Any

from saltern.fleet.protocol.batch import Batch
from saltern.fleet.protocol.codec import Body, unpack_body
from saltern.fleet.ssh.bundle.target import local_target
from saltern.fleet.ssh.drive import Done, Drive, Reach, Work
from saltern.fleet.ssh.host_rows import ENDED, HostRows, Row
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.turns import HELD, HostTurns

CLOSE = 10.0  # seconds


async def nothing() -> None:
    """Close nothing."""


class SshController:
    """One job on many hosts. It runs in its own thread; notices come through a queue."""

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
        self._rows = HostRows(jid)
        self._drives: dict[str, Drive] = {}
        self._turns = HostTurns(batch, self._rows.rows, self._turn, self._stop) if batch is not None else None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def jobs(self) -> SshController:
        return self

    # -- what the command line asks -------------------------------------------------------------------

    def submit(self) -> Row:
        """Begin."""
        self._rows.begin(self._hosts, HELD if self._turns is not None else "sent")
        self._reach.bundles.request(local_target())  # early, since most hosts are like this machine
        self._thread.start()
        return {"jid": self.jid, "expected": list(self._hosts), "away": {}, "expires": 0.0}

    def targets(self, _jid: str) -> Iterator[Row]:
        yield from list(self._rows.rows.values())

    def returns(self, jid: str) -> Iterator[Row]:
        for system in list(self._rows.done):
            if self._rows.done[system].body:
                yield self.system_return(jid, system)

    def system_return(self, _jid: str, system: str) -> Row:
        done = self._rows.done[system]
        packed = Body(encoding=done.encoding, size=done.size, parts=(done.body,))
        return {**self._rows.rows[system], "body": unpack_body(packed) if done.body else None}

    def cancel(self, _jid: str, *, hard: bool = False) -> None:
        if self._turns is not None:
            self._loop.call_soon_threadsafe(self._turns.cancel)
        for drive in list(self._drives.values()):
            asyncio.run_coroutine_threadsafe(drive.cancel(hard=hard), self._loop)

    def finished_hosts(self) -> list[str]:
        """The hosts that have reported the end of the job."""
        return [system for system, done in list(self._rows.done.items()) if done.body and not done.problem]

    def close(self) -> None:
        """Wait for the end of the thread; what still runs on a host continues."""
        if len(self._rows.done) == len(self._hosts):
            self._thread.join(CLOSE)

    def follow(self, _jid: str, *, after: int | None, on_break: object) -> Iterator[Row]:  # noqa: ARG002
        while (notice := self._rows.notices.get()) is not ENDED:
            yield notice

    # -- the hosts --------------------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._all())
        finally:
            self._rows.notices.put(ENDED)

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
        self._rows.set(system, "sent")
        return self._one(self._hosts[system])

    def _stop(self, systems: Iterable[str], status: str, why: str) -> None:
        for system in systems:
            self._rows.finish(system, Done(status=status, why=why))

    async def _one(self, host: Host) -> None:
        def on_progress(kind: str, head: Row) -> None:
            self._rows.report(host.id, kind, head)

        try:
            work = await asyncio.to_thread(self._work_for, host)
            drive = self._drives[host.id] = Drive(host, work, self._reach, on_progress)
            done = await drive.run()
        except Exception as problem:  # a problem of one host must not affect others
            done = Done(status="indeterminate", why=f"a defect of saltern: {problem!r}", code=70)
        self._rows.finish(host.id, done)
