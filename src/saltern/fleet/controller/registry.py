"""Administration of systems: keys, join tokens, groups. Each change is audited in its transaction."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.target import expand
from saltern.fleet.identity.token import JoinToken, TokenRecord, write_token
from saltern.fleet.protocol.ids import BadId
from saltern.fleet.store import audit, systems, tokens
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import NewEvent, store_events
from saltern.fleet.store.groups import groups, remove_group, set_group
from saltern.fleet.store.systems import STATES, System
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.targeting.compound import parse
from saltern.targeting.match import BadTarget

DAY = 86_400.0
MOST_USES = 100_000
LONGEST = 365 * DAY
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_ACTS = {"accepted": "accept", "rejected": "reject", "revoked": "revoke"}


class Gate(Protocol):
    """The part of the broker that admits keys."""

    async def revoke(self, key: bytes) -> None: ...

    async def restore(self, key: bytes) -> None: ...

    def new_token(
        self, roots: tuple[bytes, ...], *, life: float, uses: int, site: str
    ) -> tuple[JoinToken, TokenRecord]: ...


class Registry:
    """``who`` is the name of the person. ``changed`` is called after each change that is an event."""

    def __init__(
        self,
        calls: Calls,
        gate: Gate,
        roots: tuple[bytes, ...],
        *,
        now: Callable[[], float],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._calls = calls
        self._gate = gate
        self._roots = roots
        self._now = now
        self._changed = changed

    # -- keys of systems -----------------------------------------------------------------------------

    async def accept(self, who: str, id_: str, *, fingerprint: str = "") -> None:
        """Accept the key of a system; with a fingerprint, only if it matches."""
        await self._decide(who, id_, "accepted", from_=("pending", "rejected"), fingerprint=fingerprint)

    async def reject(self, who: str, id_: str, *, why: str = "") -> None:
        await self._decide(who, id_, "rejected", from_=("pending",), why=why)

    async def revoke(self, who: str, id_: str, *, why: str = "") -> None:
        """End every credential of the system's key: its connections are closed when this returns."""
        row = await self._decide(who, id_, "revoked", from_=("accepted",), why=why)
        await self._gate.revoke(row.key)

    async def restore(self, who: str, id_: str) -> None:
        """Admit a revoked key again; its agent gets a new credential when it joins again."""
        row = await self._decide(who, id_, "accepted", from_=("revoked",))
        await self._gate.restore(row.key)

    async def remove(self, who: str, id_: str) -> None:
        """Delete a system and its facts; its key is no longer valid. Its returns stay with their jobs."""
        row = await self._calls.write(_remove, id_, who, self._now())
        if row is None:
            raise unknown_system(id_)
        self._changed()
        if row.state == "accepted":
            await self._gate.revoke(row.key)

    async def _decide(
        self, who: str, id_: str, state: str, *, from_: tuple[str, ...], why: str = "", fingerprint: str = ""
    ) -> System:
        row = await self._calls.write(_decide, id_, state, who, self._now(), from_, why, fingerprint)
        self._changed()
        return row

    # -- tokens ----------------------------------------------------------------------------------------

    async def new_token(
        self, who: str, *, life: float = DAY, uses: int = 1, site: str = "", takes: tuple[str, ...] = ()
    ) -> str:
        """A join token, as the text for machines. It cannot be shown again.

        ``takes``: systems of the roster that become agent systems with it.
        """
        if not (0 < life <= LONGEST and 0 < uses <= MOST_USES):
            what = f"a token is valid for up to {LONGEST / DAY:.0f} days and 1 to {MOST_USES} systems"
            raise OperationError(Diagnostic(code="fleet-token-limits", what=what, fix="ask for less"))
        try:
            token, record = self._gate.new_token(self._roots, life=life, uses=uses, site=site)
        except BadId as problem:
            fix = "use lower case letters, digits and '-'"
            raise OperationError(Diagnostic(code="fleet-token-limits", what=str(problem), fix=fix)) from None
        now = self._now()
        row = tokens.Token(
            id=record.id, made_at=now, made_by=who, expires=record.expires, uses=uses, site=site
        )
        await self._calls.write(_add_token, row, record.key, who, now, takes)
        return write_token(token)

    async def tokens(self) -> list[tokens.Token]:
        return await self._calls.read(tokens.tokens)

    async def remove_token(self, who: str, id_: str) -> None:
        if not await self._calls.write(_remove_token, id_, who, self._now()):
            what = f"there is no join token {id_!r}"
            fix = "saltern fleet tokens lists them"
            raise OperationError(Diagnostic(code="fleet-token-unknown", what=what, fix=fix))

    # -- groups ----------------------------------------------------------------------------------------

    async def groups(self) -> dict[str, str]:
        return await self._calls.read(groups)

    async def set_group(self, who: str, name: str, target: str) -> None:
        """Give a target a name, so that ``@NAME`` stands for it."""
        if not _NAME.fullmatch(name):
            what = f"{name!r} cannot be the name of a group"
            fix = "use letters, digits, '.', '_' and '-'"
            raise OperationError(Diagnostic(code="fleet-group", what=what, fix=fix))
        try:
            others = {**await self.groups(), name: target}
            parse(expand(f"@{name}", others))
        except BadTarget as problem:
            raise OperationError(Diagnostic(code="fleet-group", what=problem.what, fix=problem.fix)) from None
        await self._calls.write(_set_group, name, target, who, self._now())

    async def remove_group(self, who: str, name: str) -> None:
        if not await self._calls.write(_remove_group, name, who, self._now()):
            what, fix = f"no group is called {name!r}", "saltern fleet groups lists them"
            raise OperationError(Diagnostic(code="fleet-group-unknown", what=what, fix=fix))


def unknown_system(id_: str) -> OperationError:
    what, fix = f"there is no system {id_!r}", "saltern fleet lists them"
    return OperationError(Diagnostic(code="fleet-system-unknown", what=what, fix=fix))


def _refuse_ssh(row: System) -> None:
    """Refuse a system of the roster, which has no key."""
    if row.kind == systems.SSH:
        what = f"{row.id!r} is a system of the controller's roster, and has no key"
        fix = "change the roster; `saltern agent deploy` turns it into an agent system"
        raise OperationError(Diagnostic(code="fleet-no-agent", what=what, fix=fix))


def _decide(
    connection: Connection,
    id_: str,
    state: str,
    who: str,
    now: float,
    from_: tuple[str, ...],
    why: str,
    fingerprint: str,
) -> System:
    row = systems.system(connection, id_)
    if row is None:
        raise unknown_system(id_)
    _refuse_ssh(row)
    if fingerprint and fingerprint != row.fingerprint:
        what = f"the key of {id_!r} has the fingerprint {row.fingerprint}, not {fingerprint}"
        fix = "compare with `saltern agent status` on the machine itself"
        raise OperationError(Diagnostic(code="fleet-fingerprint", what=what, fix=fix))
    if row.state not in from_ or not systems.decide(connection, id_, state, who, now, why):
        possible = ", ".join(sorted(STATES[row.state]))
        what = f"the key of {id_!r} is {row.state}, and cannot become {state}"
        raise OperationError(
            Diagnostic(code="fleet-key-state", what=what, fix=f"from here it can become: {possible}")
        )
    act = "restore" if row.state == "revoked" else _ACTS[state]
    _note(connection, who, act, id_, row.fingerprint, now)
    return row


def _remove(connection: Connection, id_: str, who: str, now: float) -> System | None:
    row = systems.system(connection, id_)
    if row is not None:
        _refuse_ssh(row)
    if row is not None and systems.forget(connection, id_):
        _note(connection, who, "delete", id_, row.fingerprint, now)
        return row
    return None


def _note(connection: Connection, who: str, act: str, id_: str, fingerprint: str, now: float) -> None:
    audit.append(connection, who, f"system.{act}", {"id": id_, "fingerprint": fingerprint}, now)
    data = {"id": id_, "act": act, "result": True}
    store_events(connection, [NewEvent(tag="salt/key", data=data, at=now, system=id_)])


def _add_token(
    connection: Connection, row: tokens.Token, key: bytes, who: str, now: float, takes: tuple[str, ...]
) -> None:
    tokens.add_token(connection, row, key)
    if others := systems.set_successor(connection, takes, row.id):
        what = f"not in the controller's roster: {', '.join(others)}"
        fix = "saltern fleet systems lists those of the kind ssh"
        raise OperationError(Diagnostic(code="fleet-not-in-roster", what=what, fix=fix))
    detail: dict[str, object] = {"id": row.id, "uses": row.uses, "expires": row.expires, "site": row.site}
    detail |= {"takes": list(takes)} if takes else {}
    audit.append(connection, who, "token.make", detail, now)


def _remove_token(connection: Connection, id_: str, who: str, now: float) -> bool:
    found = tokens.remove_token(connection, id_)
    if found:
        audit.append(connection, who, "token.remove", {"id": id_}, now)
    return found


def _set_group(connection: Connection, name: str, target: str, who: str, now: float) -> None:
    set_group(connection, name, target)
    audit.append(connection, who, "group.set", {"name": name, "target": target}, now)


def _remove_group(connection: Connection, name: str, who: str, now: float) -> bool:
    found = remove_group(connection, name)
    if found:
        audit.append(connection, who, "group.remove", {"name": name}, now)
    return found
