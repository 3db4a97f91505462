"""Reactions to events: a row for each, written when it is done."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import Connection, delete, func, insert, select, update

from saltern.fleet.store.reactor_tables import REACTIONS
from saltern.fleet.store.tables import JOBS

DEEPEST = 50  # jobs that are looked at from one to its parent
DONE, FAILED, STOPPED, RUNNING = "done", "failed", "stopped", "running"


class NewReaction(Struct, frozen=True, kw_only=True):
    """One row; see the table. ``root``: the event that the chain of reactions began with."""

    token: str
    event: int
    root: int
    depth: int
    at: float
    tag: str
    source: str
    status: str
    line: int = 0
    name: str = ""
    kind: str = ""
    function: str = ""
    target: str = ""
    why: str = ""
    jid: str = ""


class StoredReaction(NewReaction, frozen=True, kw_only=True):
    """A row with its number."""

    number: int


class Ancestry(Struct, frozen=True):
    """Where an event stands: how many reactions led to it, and from which event on."""

    depth: int = 0
    root: int = 0


def add_reactions(connection: Connection, rows: Sequence[NewReaction]) -> list[NewReaction]:
    """Store reactions; return the new ones. A known one is stored again only if it has ended."""
    new = []
    for row in rows:
        known = connection.scalar(select(REACTIONS.c.status).where(REACTIONS.c.token == row.token))
        if known is None:
            connection.execute(insert(REACTIONS).values(asdict(row)))
            new.append(row)
        elif known == RUNNING and row.status != RUNNING:
            values = {"status": row.status, "why": row.why, "jid": row.jid}
            connection.execute(update(REACTIONS).where(REACTIONS.c.token == row.token).values(values))
    return new


def end_reaction(connection: Connection, jid: str, status: str, why: str) -> bool:
    """Store the result of a running reaction; False if there is none."""
    mine = (REACTIONS.c.jid == jid) & (REACTIONS.c.status == RUNNING)
    return connection.execute(update(REACTIONS).where(mine).values(status=status, why=why)).rowcount > 0


def end_running(connection: Connection, why: str) -> int:
    """End the reactions that ran when the controller ended: their results are unknown."""
    return connection.execute(
        update(REACTIONS).where(REACTIONS.c.status == RUNNING).values(status=FAILED, why=why)
    ).rowcount


def is_done(connection: Connection, token: str) -> bool:
    """True if a reaction has been begun before."""
    return connection.scalar(select(REACTIONS.c.number).where(REACTIONS.c.token == token)) is not None


def last_reactions(connection: Connection, limit: int = 50, before: int = 0) -> list[StoredReaction]:
    """The newest reactions, the newest first."""
    query = select(REACTIONS).order_by(REACTIONS.c.number.desc()).limit(limit)
    if before:
        query = query.where(REACTIONS.c.number < before)
    return [StoredReaction(**row) for row in connection.execute(query).mappings()]


def ancestry(connection: Connection, cause: str) -> Ancestry:
    """How many reactions led to what a job, or a reaction, has caused: its parents are asked, too."""
    for _ in range(DEEPEST):
        if not cause:
            break
        query = select(REACTIONS.c.depth, REACTIONS.c.root).where(REACTIONS.c.jid == cause)
        row = connection.execute(query.limit(1)).one_or_none()
        if row is not None:
            return Ancestry(int(row.depth), int(row.root))
        cause = str(connection.scalar(select(JOBS.c.parent).where(JOBS.c.jid == cause)) or "")
    return Ancestry()


def count_of_root(connection: Connection, root: int) -> int:
    """How many reactions an event has led to, directly or not."""
    query = select(func.count()).select_from(REACTIONS).where(REACTIONS.c.root == root)
    return int(connection.scalar(query) or 0)


def prune_reactions(connection: Connection, before: float, step: int) -> int:
    old = select(REACTIONS.c.number).where(REACTIONS.c.at < before).order_by(REACTIONS.c.number).limit(step)
    return connection.execute(delete(REACTIONS).where(REACTIONS.c.number.in_(old))).rowcount
