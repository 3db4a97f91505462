"""Systems: which asked to join, which were accepted, and what their agents report."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeGuard

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, delete, func, insert, select, update

from saltern.fleet.protocol.messages import Facts, SyncRequest
from saltern.fleet.store.tables import FACTS, SYSTEMS

PAGE = 500
AGENT, SSH = "agent", "ssh"  # how a system is reached
NOT_ACCEPTED = "the key of this system is not accepted"
# A state of a key → the states that an operator may give it.
STATES: dict[str, frozenset[str]] = {
    "pending": frozenset({"accepted", "rejected"}),
    "accepted": frozenset({"revoked"}),
    "rejected": frozenset({"accepted"}),
    "revoked": frozenset({"accepted"}),
}


class System(Struct, frozen=True, kw_only=True):
    """One system as it is listed."""

    id: str
    state: str
    key: bytes
    sealing_key: bytes
    fingerprint: str
    site: str
    first_seen: float
    decided_at: float | None
    decided_by: str
    why: str
    instance: str
    starts: int
    boot: str
    version: str
    online: bool
    seen_at: float | None
    back_by: float | None
    kind: str = AGENT
    successor: str = ""


class Applicant(Struct, frozen=True, kw_only=True):
    """Who asks to join, with which keys."""

    id: str
    key: bytes
    sealing_key: bytes
    fingerprint: str
    site: str = ""


def gives_way(row: System, token: str) -> bool:
    """True if a system of the roster becomes an agent system with this token."""
    return row.kind == SSH and bool(token) and row.successor == token


def set_successor(connection: Connection, ids: Collection[str], token: str) -> list[str]:
    """Let a token take over these systems of the roster; return those that are not in it."""
    rows = SYSTEMS.c.id.in_([*ids]) & (SYSTEMS.c.kind == SSH)
    known = {str(id_) for id_ in connection.scalars(select(SYSTEMS.c.id).where(rows))}
    connection.execute(update(SYSTEMS).where(rows).values(successor=token))
    return sorted({*ids} - known)


def enrol(connection: Connection, one: Applicant, now: float, *, accept_by: str = "") -> str:
    """Record that a system asks to join; return the state of its key.

    The first key of an id stays until an operator deletes the system: another key with the same id is
    answered with ``"taken"``. ``accept_by`` is the token that admits it; without it an operator decides.
    """
    known = system(connection, one.id)
    if known is not None:
        if (known.key, known.sealing_key) != (one.key, one.sealing_key):
            return "taken"
        if known.state == "pending" and accept_by:
            decide(connection, one.id, "accepted", f"token {accept_by}", now)
            return "accepted"
        return known.state
    state = "accepted" if accept_by else "pending"
    values = {
        **msgspec.structs.asdict(one),
        "state": state,
        "first_seen": now,
        "decided_at": now if accept_by else None,
        "decided_by": f"token {accept_by}" if accept_by else "",
    }
    connection.execute(insert(SYSTEMS).values(values))
    return state


def decide(connection: Connection, id_: str, state: str, who: str, now: float, why: str = "") -> bool:
    """Accept, reject or revoke the key of a system; False if its current state does not allow that.

    It counts as away until its agent connects: a revoked one was disconnected, an accepted one must connect.
    """
    allowed = [old for old, following in STATES.items() if state in following]
    done = connection.execute(
        update(SYSTEMS)
        .where(SYSTEMS.c.id == id_, SYSTEMS.c.state.in_(allowed))
        .values(state=state, decided_at=now, decided_by=who, why=why, online=False)
    )
    return done.rowcount == 1


def forget(connection: Connection, id_: str) -> bool:
    """Delete a system with its facts. Its returns stay with their jobs."""
    return connection.execute(delete(SYSTEMS).where(SYSTEMS.c.id == id_)).rowcount == 1


def note_sync(
    connection: Connection, id_: str, request: SyncRequest, now: float, *, checked: bool = False
) -> str:
    """Record what an agent reports; return why it may not take part, or nothing.

    ``starts`` is counted on the agent's disk, ``instance`` is drawn at each start. A second machine with the
    same identity is detected by a count that does not grow, with another instance. ``checked``: a poke found
    no second machine.
    """
    known = system(connection, id_)
    if not is_accepted(known):
        return NOT_ACCEPTED
    other = known.instance not in ("", request.instance)
    if other and not checked and request.starts <= known.starts:
        return "another machine uses the identity of this system: were its keys copied?"
    connection.execute(
        update(SYSTEMS)
        .where(SYSTEMS.c.id == id_)
        .values(
            instance=request.instance,
            starts=request.starts,
            boot=request.boot,
            version=request.version,
            online=True,
            seen_at=now,
            back_by=None,
        )
    )
    return ""


def set_presence(
    connection: Connection,
    id_: str,
    now: float,
    *,
    online: bool,
    back_by: float | None = None,
) -> None:
    """Record that a system connected or left; ``back_by``: it left on purpose and should be back by then."""
    values: dict[str, object] = {"online": online, "seen_at": now, "back_by": back_by}
    connection.execute(update(SYSTEMS).where(SYSTEMS.c.id == id_).values(values))


def note_away(connection: Connection, id_: str, now: float) -> None:
    """Record that a system left; its announced return time still applies."""
    connection.execute(update(SYSTEMS).where(SYSTEMS.c.id == id_).values(online=False, seen_at=now))


def announce_away(connection: Connection, id_: str, back_by: float | None) -> None:
    """Record that a system is about to leave on purpose, and when it should be back."""
    connection.execute(update(SYSTEMS).where(SYSTEMS.c.id == id_).values(back_by=back_by))


def presence_of(connection: Connection) -> dict[str, bool]:
    """Every accepted system that has an agent, and whether it is known to be connected."""
    query = select(SYSTEMS.c.id, SYSTEMS.c.online)
    query = query.where(SYSTEMS.c.state == "accepted", SYSTEMS.c.kind == AGENT)
    return {str(id_): bool(online) for id_, online in connection.execute(query)}


def count_systems(connection: Connection) -> dict[str, float]:
    """How many systems have which state of their key."""
    query = select(SYSTEMS.c.state, func.count()).group_by(SYSTEMS.c.state)
    return {str(state): float(number) for state, number in connection.execute(query)}


def last_seen(connection: Connection) -> list[tuple[str, float | None]]:
    """Every accepted system, and when it was last connected."""
    query = select(SYSTEMS.c.id, SYSTEMS.c.seen_at).where(SYSTEMS.c.state == "accepted")
    return [(str(id_), seen) for id_, seen in connection.execute(query)]


def store_facts(connection: Connection, id_: str, facts: Facts, now: float) -> bool:
    """Store the grains of a system; False if they have not changed.

    A system cannot set its own ``id``: targets and pillar of another system would apply to it.
    """
    kept = connection.scalar(select(FACTS.c.digest).where(FACTS.c.system == id_))
    if kept == facts.digest:
        return False
    grains = {**facts.grains, "id": id_} if "id" in facts.grains else facts.grains
    values = {"digest": facts.digest, "grains": msgspec.json.encode(grains), "changed_at": now}
    if kept is None:
        connection.execute(insert(FACTS).values(system=id_, **values))
    else:
        connection.execute(update(FACTS).where(FACTS.c.system == id_).values(values))
    return True


def system(connection: Connection, id_: str) -> System | None:
    row = connection.execute(select(SYSTEMS).where(SYSTEMS.c.id == id_)).one_or_none()
    return read_system(row._mapping) if row is not None else None


def is_accepted(known: System | None) -> TypeGuard[System]:
    """True for a system that may take part; the others are answered with ``NOT_ACCEPTED``."""
    return known is not None and known.state == "accepted"


def sealing_keys(connection: Connection, ids: Collection[str]) -> dict[str, bytes]:
    """The keys that boxes for these systems are sealed to; those without an agent have none."""
    query = select(SYSTEMS.c.id, SYSTEMS.c.sealing_key).where(SYSTEMS.c.id.in_(ids))
    return {str(row.id): bytes(row.sealing_key) for row in connection.execute(query)}


def systems(connection: Connection, state: str | None = None) -> list[System]:
    """All systems by id, or those whose key has this state."""
    query = select(SYSTEMS).order_by(SYSTEMS.c.id)
    if state is not None:
        query = query.where(SYSTEMS.c.state == state)
    return [read_system(row._mapping) for row in connection.execute(query)]


def all_facts(connection: Connection) -> Iterator[tuple[str, dict[str, Any]]]:
    """The grains of every accepted system, by id."""
    query = (
        select(FACTS.c.system, FACTS.c.grains)
        .join(SYSTEMS, SYSTEMS.c.id == FACTS.c.system)
        .where(SYSTEMS.c.state == "accepted")
        .order_by(FACTS.c.system)
        .limit(PAGE)
    )
    rows = connection.execute(query).all()
    while rows:
        for id_, grains in rows:
            yield str(id_), msgspec.json.decode(grains, type=dict[str, Any])
        rows = connection.execute(query.where(FACTS.c.system > rows[-1].system)).all()


def read_system(row: Mapping[Any, Any]) -> System:
    return System(**{**row, "key": bytes(row["key"]), "sealing_key": bytes(row["sealing_key"])})
