"""Reacts to changes of the broker connection and of the connected agents."""

from __future__ import annotations

import asyncio
import logging

from saltern.fleet.broker.streams import make_streams
from saltern.fleet.bus.ports import BusError, Change, State
from saltern.fleet.controller.batch import system_of
from saltern.fleet.controller.gate import BrokerGate
from saltern.fleet.controller.loops import Loops
from saltern.fleet.controller.parts import Parts
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)

LOOK_AROUND = 300.0  # seconds between two pokes of all: the broker's events are faster, but may be lost
LOOK_OFTEN = 30.0  # if there are no such events


class Watch:
    """Watches the broker connection and the systems."""

    def __init__(self, parts: Parts, gate: BrokerGate, loops: Loops) -> None:
        self._parts = parts
        self._gate = gate
        self._loops = loops

    def on_bus(self, change: Change) -> None:
        """Handle a change of the connection to the broker."""
        log.info("the bus: %s %s", change.state.value, change.why)
        if change.state is State.DROPPED:
            self._parts.alarms.refuse(system_of(change.why.partition(" ")[0]), "flood")
        if change.state is State.CONNECTED:
            self._loops.spawn_once(self._repair())

    async def _repair(self) -> None:
        """After a reconnection: the broker's disk may be new, and other systems may be connected."""
        try:
            await make_streams(self._parts.bus, replicas=self._parts.options.replicas)
            await self._gate.refresh()
            await self._parts.look_around()
            if self._parts.trees is not None:
                await self._parts.trees.newest()
        except (BusError, OperationError, TimeoutError) as problem:
            log.warning("after a reconnection: %s", problem)

    async def look_around(self, *, often: bool) -> None:
        """Poke all systems, for ever."""
        while True:
            try:
                await self._parts.look_around()
                for warning in self._parts.health.warnings:
                    log.warning("%s", warning)
            except (BusError, OperationError) as problem:
                log.warning("the systems that are connected cannot be listed now: %s", problem)
            await asyncio.sleep(LOOK_OFTEN if often else LOOK_AROUND)
