"""Requests for approval. A digest binds a request to exactly what was requested, and it is used once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, and_, func, insert, select, update

from saltern.fleet.store.access_tables import APPROVALS, VOTES
from saltern.fleet.store.database import serialize

OPEN, APPROVED, REJECTED, USED, EXPIRED = "open", "approved", "rejected", "used", "expired"


class Vote(Struct, frozen=True, kw_only=True):
    who: str
    approves: bool
    at: float
    why: str = ""


class Approval(Struct, frozen=True, kw_only=True):
    """One request. ``shown`` is the request without secrets, for people."""

    id: str
    asked_by: str
    asked_at: float
    expires: float
    function: str
    target: str
    systems: tuple[str, ...]
    shown: dict[str, object]
    digest: str
    rule: str
    needed: int
    state: str = OPEN
    votes: tuple[Vote, ...] = ()

    @property
    def approved_by(self) -> tuple[str, ...]:
        return tuple(vote.who for vote in self.votes if vote.approves)


def add_approval(connection: Connection, one: Approval) -> None:
    values = msgspec.structs.asdict(one)
    del values["votes"]
    for key in ("systems", "shown"):
        values[key] = msgspec.json.encode(values[key])
    connection.execute(insert(APPROVALS).values(values))


def approval(connection: Connection, id_: str, now: float) -> Approval | None:
    """One request, locked until the transaction ends if the database supports that."""
    query = select(APPROVALS).where(APPROVALS.c.id == id_).with_for_update()
    row = connection.execute(query).one_or_none()
    return None if row is None else _approval(connection, row, now)


def approvals(connection: Connection, now: float, *, state: str = "", limit: int = 200) -> list[Approval]:
    query = select(APPROVALS).order_by(APPROVALS.c.asked_at.desc()).limit(limit)
    if state in (OPEN, APPROVED):
        query = query.where(APPROVALS.c.state == state, APPROVALS.c.expires > now)
    elif state:
        query = query.where(APPROVALS.c.state == state)
    rows = connection.execute(query).all()
    votes = _votes(connection, [row.id for row in rows])
    return [_make_approval(row, votes.get(row.id, ()), now) for row in rows]


def is_open(now: float) -> ColumnElement[bool]:
    """Whether a request waits for a decision, as a condition of a query."""
    return and_(APPROVALS.c.state == OPEN, APPROVALS.c.expires > now)


def lock_approvals(connection: Connection) -> None:
    """Let one transaction at a time look for a request and add one."""
    serialize(connection, "approvals")


def current_approval(connection: Connection, who: str, digest: str, now: float) -> Approval | None:
    """The newest request of this person for exactly this that can still be used or decided."""
    mine = (APPROVALS.c.asked_by == who) & (APPROVALS.c.digest == digest) & (APPROVALS.c.expires > now)
    query = select(APPROVALS).where(mine, APPROVALS.c.state.in_((OPEN, APPROVED)))
    row = connection.execute(query.order_by(APPROVALS.c.asked_at.desc()).limit(1)).one_or_none()
    return None if row is None else _approval(connection, row, now)


def count_open(connection: Connection, who: str, now: float) -> int:
    """How many requests of this person wait for a decision."""
    mine = (APPROVALS.c.asked_by == who) & (APPROVALS.c.state == OPEN) & (APPROVALS.c.expires > now)
    return connection.scalar(select(func.count()).select_from(APPROVALS).where(mine)) or 0


def vote(connection: Connection, id_: str, one: Vote) -> None:
    connection.execute(insert(VOTES).values(approval=id_, **msgspec.structs.asdict(one)))


def change_state(connection: Connection, id_: str, before: str, after: str) -> bool:
    """Change the state if it is ``before``; True if it was. Of two concurrent attempts one succeeds."""
    mine = (APPROVALS.c.id == id_) & (APPROVALS.c.state == before)
    return connection.execute(update(APPROVALS).where(mine).values(state=after)).rowcount == 1


def _approval(connection: Connection, row: Any, now: float) -> Approval:
    return _make_approval(row, _votes(connection, [row.id]).get(row.id, ()), now)


def _votes(connection: Connection, approvals: Sequence[str]) -> dict[str, list[Vote]]:
    """The votes of some requests, by their id."""
    found: dict[str, list[Vote]] = {}
    for one in connection.execute(select(VOTES).where(VOTES.c.approval.in_(approvals)).order_by(VOTES.c.at)):
        vote = Vote(who=one.who, approves=one.approves, at=one.at, why=one.why)
        found.setdefault(one.approval, []).append(vote)
    return found


def _make_approval(row: Any, votes: Sequence[Vote], now: float) -> Approval:
    names = [name for name in Approval.__struct_fields__ if name != "votes"]
    values = {name: getattr(row, name) for name in names}
    values["systems"] = msgspec.json.decode(values["systems"], type=tuple[str, ...])
    values["shown"] = msgspec.json.decode(values["shown"])
    if values["state"] in (OPEN, APPROVED) and values["expires"] <= now:
        values["state"] = EXPIRED
    return Approval(**values, votes=tuple(votes))
