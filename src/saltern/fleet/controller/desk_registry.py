"""Systems and tokens for the enrolment desk, in the database."""

from __future__ import annotations

from collections.abc import Callable

from saltern.fleet.controller.calls import Calls
from saltern.fleet.identity.enrolment import Decision, Standing, System
from saltern.fleet.identity.token import TokenRecord
from saltern.fleet.store import systems, tokens
from saltern.fleet.store.database import Connection
from saltern.fleet.store.enrolment import record_enrolment
from saltern.fleet.store.events import NewEvent, store_events

ACTS = {"accepted": "accept", "pending": "pend", "rejected": "reject", "revoked": "denied"}  # Salt's words


class DeskRegistry:
    """Each call is one transaction. ``changed`` is called after a system was stored."""

    def __init__(self, calls: Calls, *, now: Callable[[], float], changed: Callable[[], None]) -> None:
        self._calls = calls
        self._now = now
        self._changed = changed

    async def same_key(self, id: str, key: bytes, sealing_key: bytes) -> System | None:
        known = await self._find_system(id)
        same = known is not None and (known.key, known.sealing_key) == (key, sealing_key)
        return known if same else None

    async def holder(self, id: str, token: str = "") -> System | None:
        """The accepted system of an id. A system of the roster is replaced by a token made for it."""
        row = await self._calls.read(systems.system, id)
        if row is not None and systems.gives_way(row, token):
            return None
        known = await self._find_system(id)
        return known if known is not None and known.standing is Standing.ACCEPTED else None

    async def _find_system(self, id: str) -> System | None:
        row = await self._calls.read(systems.system, id)
        if row is None:
            return None
        standing = Standing(row.state)
        return System(id=id, key=row.key, sealing_key=row.sealing_key, standing=standing, site=row.site)

    async def token(self, id: str) -> TokenRecord | None:
        found = await self._calls.read(tokens.token, id)
        if found is None:
            return None
        token, key = found
        return TokenRecord(id=id, key=key, expires=token.expires, uses=token.uses, site=token.site)

    async def record(self, decision: Decision) -> bool:
        written = await self._calls.write(_record, decision, self._now())
        if written:
            self._changed()
        return written is not False


def _record(connection: Connection, decision: Decision, now: float) -> bool | None:
    one = decision.system
    assert one is not None
    applicant = systems.Applicant(
        id=one.id, key=one.key, sealing_key=one.sealing_key, fingerprint=one.fingerprint, site=one.site
    )
    state = one.standing.value
    written = record_enrolment(connection, applicant, state, now, token=decision.consume)
    if written:
        data = {"id": one.id, "act": ACTS[state], "pub": one.fingerprint, "result": state == "accepted"}
        store_events(connection, [NewEvent(tag="salt/auth", data=data, at=now, system=one.id)])
    return written
