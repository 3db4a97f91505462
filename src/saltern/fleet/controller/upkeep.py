"""Periodic checks of a running controller, so that changes need no restart."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from saltern.fleet.bus.ports import BusError
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)

EVERY = 2.0  # seconds


class Upkeep:
    """Does ``work`` in turn, at intervals; failures are logged once, and tried again."""

    def __init__(self, every: float = EVERY) -> None:
        self.work: list[Callable[[], Awaitable[None]]] = []
        self._every = every
        self._problems: dict[int, str] = {}

    async def run(self) -> None:
        while True:
            for number, one in enumerate(self.work):
                await self._do(number, one)
            await asyncio.sleep(self._every)

    async def _do(self, number: int, one: Callable[[], Awaitable[None]]) -> None:
        try:
            await one()
            self._problems.pop(number, None)
        except (BusError, OperationError, OSError) as problem:
            text = str(problem) or type(problem).__name__
            if self._problems.get(number) != text:
                log.warning("it is tried again: %s", text)
            self._problems[number] = text
