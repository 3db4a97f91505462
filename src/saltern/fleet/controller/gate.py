"""Which keys the broker admits; the list of revoked keys is in the database, for all controllers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from saltern.fleet.bus.ports import BusError
from saltern.fleet.controller.calls import Calls
from saltern.fleet.identity.revocation import prune, restore, revoke
from saltern.fleet.identity.token import JoinToken, TokenRecord
from saltern.fleet.store.database import Connection
from saltern.fleet.store.settings import read_setting, write_setting

log = logging.getLogger(__name__)

REVOKED = "revoked"


class Broker(Protocol):
    """What the gate needs from a broker."""

    @property
    def revoked(self) -> dict[str, int]: ...

    async def set_revoked(self, revoked: dict[str, int]) -> None: ...

    def new_token(
        self, roots: tuple[bytes, ...], *, life: float, uses: int, site: str
    ) -> tuple[JoinToken, TokenRecord]: ...


class BrokerGate:
    """Revocations are stored first, then pushed: a controller that ends in between pushes them at its next
    start.
    """

    def __init__(self, calls: Calls, broker: Broker, *, now: Callable[[], float]) -> None:
        self._calls = calls
        self._broker = broker
        self._now = now

    async def revoke(self, key: bytes) -> None:
        await self._push(await self._calls.write(_change, revoke, key, self._now()))

    async def restore(self, key: bytes) -> None:
        await self._push(await self._calls.write(_change, restore, key, self._now()))

    async def refresh(self) -> None:
        """Push the stored list to this controller's broker, which may have missed it."""
        kept = await self._calls.read(_revoked_keys)
        if kept or self._broker.revoked:
            await self._broker.set_revoked(prune(kept, self._now()))

    async def _push(self, revoked: dict[str, int]) -> None:
        try:
            await self._broker.set_revoked(prune(revoked, self._now()))
        except BusError as problem:
            log.warning("revoked keys are pushed when the broker can be reached again: %s", problem)

    def new_token(
        self, roots: tuple[bytes, ...], *, life: float, uses: int, site: str
    ) -> tuple[JoinToken, TokenRecord]:
        return self._broker.new_token(roots, life=life, uses=uses, site=site)


def _revoked_keys(connection: Connection) -> dict[str, int]:
    return read_setting(connection, REVOKED, dict[str, int]) or {}


def _change(
    connection: Connection,
    change: Callable[[dict[str, int], bytes, float], dict[str, int]],
    key: bytes,
    now: float,
) -> dict[str, int]:
    revoked = change(_revoked_keys(connection), key, now)
    write_setting(connection, REVOKED, revoked)
    return revoked
