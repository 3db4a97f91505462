"""Orders to systems: stored with the decision, turned into jobs by one controller, acknowledged by
returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, Select, insert, or_, select, update

from saltern.fleet.store.bulk import fetch
from saltern.fleet.store.chain_gates import OPEN as GATE_OPEN
from saltern.fleet.store.chain_runs import OPEN
from saltern.fleet.store.chain_tables import CHAIN_GATES, CHAIN_LEGS, CHAIN_OUTBOX, CHAIN_RUNS
from saltern.fleet.store.statuses import ENDS
from saltern.fleet.store.tables import TARGETS

MOST = 2000  # orders that one round looks at
GUESSED = ("expired", "indeterminate")  # answers that the controller has assumed


class Unsent(Struct, frozen=True, kw_only=True):
    """An order that is not a job yet."""

    number: int
    run: str
    leg: str
    system: str
    order: int
    verb: str
    step: str
    body: bytes
    revision: int = 0  # of the inputs of the leg


class Returned(Struct, frozen=True, kw_only=True):
    """An order whose job has ended on its system."""

    number: int
    run: str
    leg: str
    system: str
    order: int
    verb: str
    jid: str
    status: str
    why: str
    started: float | None  # None: nothing was begun there
    ended: float | None


def put_orders(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        connection.execute(insert(CHAIN_OUTBOX), [dict(row) for row in rows])


def has_work(connection: Connection) -> bool:
    """True if a run is open, an order may still be answered, or the time of a gate is not over: a revision
    of a run that has ended waits at one."""
    return any(fetch(connection, query) for query in _OPEN_WORK)


_OPEN_WORK = (
    select(CHAIN_RUNS.c.id).where(CHAIN_RUNS.c.status.in_(OPEN)).limit(1),
    select(CHAIN_OUTBOX.c.number)
    .where(or_(CHAIN_OUTBOX.c.acked.is_(None), CHAIN_OUTBOX.c.answer.in_(GUESSED)))
    .limit(1),
    select(CHAIN_GATES.c.run)
    .where(CHAIN_GATES.c.status == GATE_OPEN, CHAIN_GATES.c.expires.is_not(None))
    .limit(1),
)


def unsent_orders(connection: Connection, limit: int = MOST) -> list[Unsent]:
    """Orders that are not jobs yet, oldest first."""
    query = (
        select(CHAIN_OUTBOX, CHAIN_LEGS.c.system, CHAIN_LEGS.c.plan_revision.label("revision"))
        .join(CHAIN_LEGS, CHAIN_LEGS.c.id == CHAIN_OUTBOX.c.leg)
        .where(CHAIN_OUTBOX.c.acked.is_(None), CHAIN_OUTBOX.c.jid.is_(None))
        .order_by(CHAIN_OUTBOX.c.number)
        .limit(limit)
    )
    names = Unsent.__struct_fields__
    rows = [{name: getattr(row, name) for name in names} for row in connection.execute(query)]
    return [Unsent(**{**row, "body": bytes(row["body"])}) for row in rows]


def set_job(connection: Connection, numbers: Sequence[int], jid: str, now: float) -> None:
    """Record that these orders are sent as this job."""
    change = update(CHAIN_OUTBOX).where(CHAIN_OUTBOX.c.number.in_(numbers))
    connection.execute(change.values(jid=jid, sent=now))


def returned_orders(connection: Connection, limit: int = MOST) -> list[Returned]:
    """Orders whose jobs have ended, and whose results were not processed yet."""
    waiting = CHAIN_OUTBOX.c.acked.is_(None) & CHAIN_OUTBOX.c.jid.is_not(None)
    query = _orders_with_targets().where(waiting, TARGETS.c.status.in_(ENDS))
    return _read_returned(connection, query.order_by(CHAIN_OUTBOX.c.number).limit(limit))


def late_orders(connection: Connection, limit: int = MOST) -> list[Returned]:
    """Orders that the controller ended by assumption, and whose systems have reported since."""
    guessed = CHAIN_OUTBOX.c.acked.is_not(None) & CHAIN_OUTBOX.c.answer.in_(GUESSED)
    query = _orders_with_targets().where(guessed, TARGETS.c.status.in_(("returned", "failed")))
    return _read_returned(connection, query.limit(limit))


def _orders_with_targets() -> Select[Any]:
    """Orders that are jobs, each with what is known of that job on the system of its leg."""
    columns = (TARGETS.c.system, TARGETS.c.status, TARGETS.c.why, TARGETS.c.started, TARGETS.c.ended)
    return (
        select(CHAIN_OUTBOX, *columns)
        .join(CHAIN_LEGS, CHAIN_LEGS.c.id == CHAIN_OUTBOX.c.leg)
        .join(TARGETS, (TARGETS.c.jid == CHAIN_OUTBOX.c.jid) & (TARGETS.c.system == CHAIN_LEGS.c.system))
    )


def _read_returned(connection: Connection, query: Select[Any]) -> list[Returned]:
    names = Returned.__struct_fields__
    return [Returned(**{name: getattr(row, name) for name in names}) for row in connection.execute(query)]


def set_answers(connection: Connection, answers: Mapping[int, str], now: float) -> None:
    """Record that the returns of these orders were processed."""
    by_answer: dict[str, list[int]] = {}
    for number, answer in answers.items():
        by_answer.setdefault(answer, []).append(number)
    for answer, numbers in by_answer.items():
        change = update(CHAIN_OUTBOX).where(CHAIN_OUTBOX.c.number.in_(numbers))
        connection.execute(change.values(acked=now, answer=answer))


def job_orders(
    connection: Connection, pairs: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], tuple[str, str]]:
    """The run and the leg that a job on a system is an order of, for each of these (jid, system)."""
    jids = sorted({jid for jid, _ in pairs})
    query = (
        select(CHAIN_OUTBOX.c.jid, CHAIN_LEGS.c.system, CHAIN_OUTBOX.c.run, CHAIN_OUTBOX.c.leg)
        .join(CHAIN_LEGS, CHAIN_LEGS.c.id == CHAIN_OUTBOX.c.leg)
        .where(CHAIN_OUTBOX.c.jid.in_(jids))
    )
    wanted = set(pairs)
    rows = ((str(row.jid), str(row.system), str(row.run), str(row.leg)) for row in connection.execute(query))
    return {(jid, system): (run, leg) for jid, system, run, leg in rows if (jid, system) in wanted}


def leg_orders(connection: Connection, run: str) -> list[Mapping[str, Any]]:
    """All orders of a run to its systems, oldest first."""
    query = select(CHAIN_OUTBOX).where(CHAIN_OUTBOX.c.run == run).order_by(CHAIN_OUTBOX.c.number)
    return [row._asdict() for row in connection.execute(query)]
