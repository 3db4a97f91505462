"""Runs a job on a few hosts at a time, without a controller."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from msgspec import Struct

from saltern.fleet.protocol.batch import Batch
from saltern.fleet.store.statuses import ENDS
from saltern.fleet.turns import decide_turns

HELD = "held"


class Standing(Struct, frozen=True):
    """The status of the job on one host."""

    system: str
    status: str
    updated: float


class HostTurns:
    """Starts hosts in turn until none waits. ``begin`` starts one; ``stop`` ends those that wait."""

    def __init__(
        self,
        batch: Batch,
        rows: Mapping[str, Mapping[str, Any]],
        begin: Callable[[str], Coroutine[Any, Any, None]],
        stop: Callable[[Iterable[str], str, str], None],
    ) -> None:
        self._batch = batch
        self._rows = rows
        self._begin = begin
        self._stop = stop
        self._cancelled = asyncio.Event()

    def cancel(self) -> None:
        """Start no more hosts."""
        self._cancelled.set()

    async def run(self) -> None:
        """Return when the job has ended on every host."""
        called_off = asyncio.create_task(self._cancelled.wait())
        running: set[asyncio.Task[Any]] = set()
        try:
            while self._held_systems():
                for system in self._next():
                    running.add(asyncio.create_task(self._begin(system)))
                waited = {one for one in running if not one.done()} | {called_off}
                await asyncio.wait(waited, timeout=self._rest(), return_when=asyncio.FIRST_COMPLETED)
        finally:
            called_off.cancel()
            await asyncio.gather(*running)

    def _held_systems(self) -> list[str]:
        return [system for system, row in self._rows.items() if row["status"] == HELD]

    def _next(self) -> tuple[str, ...]:
        """The hosts whose turn it is now; those that never get one are ended."""
        if self._cancelled.is_set():
            self._stop(self._held_systems(), "cancelled", "cancelled before it began")
        rows = [Standing(system, row["status"], row["updated"]) for system, row in self._rows.items()]
        turns = decide_turns(self._batch, rows, (), time.time())
        if turns.stop:
            self._stop(self._held_systems(), turns.stop, turns.why)
        return turns.begin

    def _rest(self) -> float | None:
        """Seconds until the next turn that does not depend on the end of a host; None if there is none."""
        now = time.time()
        ends = (row["updated"] + self._batch.wait for row in self._rows.values() if row["status"] in ENDS)
        return min((end - now for end in ends if end > now), default=None) if self._held_systems() else 0.0
