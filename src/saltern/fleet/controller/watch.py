"""What a controller does when its surroundings change: the broker, the agents, the other controllers."""

from __future__ import annotations

import asyncio
import logging

from saltern.fleet.broker.streams import make_streams
from saltern.fleet.bus.ports import BusError, Change, State
from saltern.fleet.controller.batch import system_of
from saltern.fleet.controller.gate import BrokerGate
from saltern.fleet.controller.loops import Loops
from saltern.fleet.controller.members import Member, members
from saltern.fleet.controller.parts import Parts
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)

LOOK_AROUND = 300.0  # seconds between two pokes of all: the broker's events are quicker, and may be lost
LOOK_OFTEN = 30.0  # if there are no such events


class Watch:
    """``members`` are the controllers that the broker was started with."""

    def __init__(
        self, parts: Parts, gate: BrokerGate, loops: Loops, known: dict[str, Member], *, replicas: int
    ) -> None:
        self._parts = parts
        self._gate = gate
        self._loops = loops
        self._members = known
        self._replicas = replicas

    def on_bus(self, change: Change) -> None:
        """Something happened to the connection to the broker."""
        log.info("the bus: %s %s", change.state.value, change.why)
        if change.state is State.DROPPED:
            self._parts.alarms.refuse(system_of(change.why.partition(" ")[0]), "flood")
        if change.state is State.CONNECTED:
            self._loops.spawn_once(self._repair())

    async def _repair(self) -> None:
        """After a reconnection: the broker's disk may be a new one, and who is there may have changed."""
        try:
            await make_streams(self._parts.bus, replicas=self._replicas)
            await self._gate.refresh()
            await self._parts.look_around()
            if self._parts.trees is not None:
                await self._parts.trees.newest()
        except (BusError, OperationError, TimeoutError) as problem:
            log.warning("after a reconnection: %s", problem)

    async def look_around(self, *, often: bool) -> None:
        """Ask all systems whether they are there, for ever."""
        while True:
            try:
                await self._parts.look_around()
                await self._look_for_members()
            except (BusError, OperationError) as problem:
                log.warning("who is there cannot be found out now: %s", problem)
            await asyncio.sleep(LOOK_OFTEN if often else LOOK_AROUND)

    async def _look_for_members(self) -> None:
        """A controller that has joined since is in no route of this broker: it takes a restart."""
        health = self._parts.health
        new = sorted((await self._parts.calls.read(members)).keys() - self._members.keys())
        what = (
            f"the controllers {', '.join(new)} have joined: restart this one, so that its broker joins theirs"
        )
        health.members = what if new else ""
        for warning in health.warnings:
            log.warning("%s", warning)
