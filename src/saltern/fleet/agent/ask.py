"""Requests to the controllers: an answer counts only if a controller signed it for this request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from saltern.fleet.agent.clock import FleetClock
from saltern.fleet.bus.ports import Bus
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.envelope import Trust
from saltern.fleet.protocol.message import Message
from saltern.fleet.protocol.subjects import SUBJECTS

TIMEOUT = 15.0

M = TypeVar("M", bound=Message)


class Asker:
    """The services of the controllers, for one agent."""

    def __init__(self, bus: Bus, clock: FleetClock, *, id: str, trust: Callable[[], Trust]) -> None:
        self._bus = bus
        self._clock = clock
        self._id = id
        self._trust = trust

    async def __call__(self, service: str, request: Any, shape: type[M]) -> M:
        """Ask a service of ``SUBJECTS``. Raises ``BusError`` and ``Refused``."""
        subject = SUBJECTS[service].of(id=self._id)
        reply = await self._bus.request(subject, encode(request), timeout=TIMEOUT)
        found = self._clock.check_answer(reply.data, self._trust(), me=self._id, nonce=request.nonce)
        return found.of(shape)
