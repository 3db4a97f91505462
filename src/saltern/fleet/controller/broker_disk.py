"""Watches the disk of the broker: reports that it is full, and restarts the broker afterwards."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from typing import Protocol

from saltern.fleet.broker.disk import BrokerLog, Disk, judge, look
from saltern.fleet.bus.ports import BusError
from saltern.fleet.controller.health import Health
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)

EVERY = 2.0  # seconds
MIB = 1024 * 1024


class Restartable(Protocol):
    """The part of the broker that is needed here."""

    folder: str

    async def restart(self) -> object: ...


class DiskWatch:
    """Sets ``health.disk`` to what is wrong, as long as it is."""

    def __init__(self, broker: Restartable, health: Health) -> None:
        self._broker = broker
        self._health = health
        self._log = BrokerLog(os.path.join(broker.folder, "broker.log"))
        self._streams = os.path.join(broker.folder, "streams")
        self._disk = Disk()

    async def run(self) -> None:
        while True:
            try:
                await self.step()
            except (OSError, OperationError, BusError, TimeoutError) as problem:
                log.warning("the disk of the broker: %s", problem)
            await asyncio.sleep(EVERY)

    async def step(self) -> None:
        room = look(self._streams)
        self._disk, order = judge(self._disk, room, complained=self._log.complained(), now=time.monotonic())
        if self._disk.is_full and not self._health.disk:
            log.error(
                "the disk of the broker is full: nothing is stored until there is space below %s",
                self._streams,
            )
        if order == "restart":
            log.warning("the broker could not write; there is space now, and it is restarted")
            await self._broker.restart()
            self._log.complained()  # log lines until then are obsolete
        self._health.disk = self._problem(room.free)

    def _problem(self, free: int) -> str:
        if not self._disk.failed:
            return ""
        left = f"{free // MIB} MiB are free"
        return f"it cannot write below {self._streams} ({left}); returns wait on the agents"
