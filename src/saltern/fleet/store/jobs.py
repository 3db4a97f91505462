"""Jobs, and their status on each system of their expected set.

A job and its expected set are written in one transaction, before anything is sent. From then on each system
has a status that follows the rules of ``statuses``. Every function takes a connection, so that callers
decide what belongs in one transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Update, bindparam, case, func, or_, select, update

from saltern.fleet.protocol.batch import Batch
from saltern.fleet.protocol.messages import Job, Return
from saltern.fleet.store.bulk import fetch, fetch_value, insert_rows, one_of, run_for_each
from saltern.fleet.store.database import serialize
from saltern.fleet.store.job_queries import targets
from saltern.fleet.store.statuses import (
    ENDS,
    OPEN,
    after_cancel,
    after_deadline,
    may_follow,
)
from saltern.fleet.store.tables import JOBS, RETURNS, TARGETS

OVER = "the job had expired"
MOST_AT_ONCE = 500  # overdue jobs that one query returns


class NewJob(Struct, frozen=True, kw_only=True):
    """A job to be stored, with its target, its systems and when it expires. ``sent``: the systems to which
    it is sent right after; ``request``: the digest of the request that has this client token; ``cursor``:
    from where to follow the job.
    """

    job: Job
    target: str
    systems: tuple[str, ...]
    expires: float
    envelope: str = ""
    broadcast: bool = False
    client_token: str | None = None
    request: str = ""
    cursor: int = 0
    batch: Batch | None = None
    sent: frozenset[str] = frozenset()


class Change(Struct, frozen=True):
    """The status that a job got on a system."""

    jid: str
    system: str
    status: str


class Move(Struct, frozen=True):
    """A change to be written: the status before, and the other columns that come with it."""

    change: Change
    old: str
    values: dict[str, Any]


def create_job(connection: Connection, new: NewJob, now: float) -> str:
    """Store a job with its expected set; return its jid.

    A second call with the same client token writes nothing and returns the jid of the first, so that a
    client whose connection broke can simply ask again.
    """
    if new.client_token is not None:
        serialize(connection, f"client token of {new.job.user}")  # both may be sent at once
        if known := fetch_value(connection, _OF_TOKEN, by=new.job.user, token=new.client_token):
            return str(known)
    systems = tuple(dict.fromkeys(new.systems))
    insert_rows(connection, JOBS, [_job_row(new, len(systems), now)])
    waiting = "held" if new.batch else "queued"
    rows = [
        {"jid": new.job.jid, "system": one, "status": "sent" if one in new.sent else waiting, "updated": now}
        for one in systems
    ]
    insert_rows(connection, TARGETS, rows)
    return new.job.jid


_OF_TOKEN = select(JOBS.c.jid).where(
    JOBS.c.user == bindparam("by"), JOBS.c.client_token == bindparam("token")
)


def _job_row(new: NewJob, systems: int, now: float) -> dict[str, object]:
    return {
        "jid": new.job.jid,
        "created": now,
        "expires": new.expires,
        "user": new.job.user,
        "rule": new.job.rule,
        "function": new.job.function,
        "target": new.target,
        "work": msgspec.json.encode(new.job),
        "envelope": new.envelope,
        "broadcast": new.broadcast,
        "expected": systems,
        "open": systems,
        "parent": new.job.parent,
        "ended": None if systems else now,
        "client_token": new.client_token,
        "request": new.request,
        "cursor": new.cursor,
        "batch": msgspec.json.encode(new.batch) if new.batch else None,
    }


def store_returns(connection: Connection, returns: Sequence[tuple[str, Return]], now: float) -> list[Change]:
    """Store returns, in any order and however often they come; return what changed.

    Each is (system, message). A return for a job that was not sent to the system is ignored: a system
    cannot add itself to a job. The status changes with the last part of the body.
    """
    parts = {(one.jid, system, one.part): one for system, one in returns}
    heads = {(jid, system): one for (jid, system, _), one in parts.items()}
    statuses = _statuses(connection, heads)
    known = _parts(connection, statuses)
    fresh = {key: one for key, one in parts.items() if key[:2] in statuses and key not in known}
    insert_rows(connection, RETURNS, [_part_row(key, one) for key, one in fresh.items()])
    have = Counter(key[:2] for key in (*known, *fresh))
    moves = [
        Move(Change(*key, heads[key].status), old, _outcome(heads[key]))
        for key, old in statuses.items()
        if have[key] >= heads[key].parts and may_follow(old, heads[key].status, reported=True)
    ]
    _make(connection, moves, now)
    return [move.change for move in moves]


def set_status(
    connection: Connection,
    change: Change,
    now: float,
    *,
    reported: bool,
    why: str = "",
    only_from: str = "",
    **values: object,
) -> bool:
    """Give a job a status on a system, if it may follow the current one; True if it did."""
    old = connection.scalar(
        select(TARGETS.c.status)
        .where(TARGETS.c.jid == change.jid, TARGETS.c.system == change.system)
        .with_for_update()
    )
    if old is None or (only_from and old != only_from):
        return False
    if not may_follow(str(old), change.status, reported=reported):
        return False
    _make(connection, [Move(change, str(old), {"why": why, **values})], now)
    return True


def cancel_job(connection: Connection, jid: str, who: str, now: float) -> list[str]:
    """Cancel a job. Where it was not sent, it is cancelled here; return the systems that must be notified."""
    marked = connection.execute(
        update(JOBS)
        .where(JOBS.c.jid == jid, JOBS.c.ended.is_(None), JOBS.c.cancelled_at.is_(None))
        .values(cancelled_at=now, cancelled_by=who)
    )
    if not marked.rowcount:
        return []
    notified = []
    for row in targets(connection, jid):
        if row.status in ENDS:
            continue
        if status := after_cancel(row.status):
            change = Change(jid, row.system, status)
            set_status(connection, change, now, reported=False, why=f"cancelled by {who}")
        else:
            notified.append(row.system)
    return notified


def overdue(connection: Connection, now: float) -> list[Change]:
    """Expired jobs that are still open on systems, with their current status."""
    return [Change(*row) for row in fetch(connection, _OVERDUE, now=now)]


_OVERDUE = (
    select(TARGETS.c.jid, TARGETS.c.system, TARGETS.c.status)
    .join(JOBS, JOBS.c.jid == TARGETS.c.jid)
    .where(JOBS.c.expires <= bindparam("now"), JOBS.c.ended.is_(None), TARGETS.c.status.in_(OPEN))
    .where(or_(TARGETS.c.back_by.is_(None), TARGETS.c.back_by <= bindparam("now")))
    .order_by(TARGETS.c.updated, TARGETS.c.jid, TARGETS.c.system)
    .limit(MOST_AT_ONCE)
)


def touch(connection: Connection, some: Iterable[Change], now: float) -> None:
    """Record that these were checked now."""
    for one in some:
        row = (TARGETS.c.jid == one.jid) & (TARGETS.c.system == one.system)
        connection.execute(update(TARGETS).where(row).values(updated=now))


def end_overdue(connection: Connection, some: Iterable[Change], now: float) -> list[Change]:
    """End these, which ``overdue`` gave, if they are still as they were; return what changed."""
    changes = [(one, Change(one.jid, one.system, after_deadline(one.status))) for one in some]
    return [
        new
        for old, new in changes
        if set_status(
            connection, new, now, reported=False, why=_why_over(connection, new), only_from=old.status
        )
    ]


def _why_over(connection: Connection, change: Change) -> str:
    """The reason for an expired job, and what it waited for, if known."""
    row = (TARGETS.c.jid == change.jid) & (TARGETS.c.system == change.system)
    known = connection.scalar(select(TARGETS.c.why).where(row))
    return f"{OVER}: {known}" if known else OVER


def _make(connection: Connection, moves: Sequence[Move], now: float) -> None:
    """Write statuses, and count down the jobs that they end on a system."""
    rows: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for move in moves:
        names = tuple(sorted(move.values))
        rows.setdefault(names, []).append(
            {"of": move.change.jid, "on": move.change.system, "status": move.change.status, **move.values}
        )
    for names, some in rows.items():
        run_for_each(connection, _update_targets(names), [{**row, "updated": now} for row in some])
    ended = Counter(move.change.jid for move in moves if move.change.status in ENDS and move.old in OPEN)
    given = [{"of": jid, "number": number, "now": now} for jid, number in sorted(ended.items())]
    run_for_each(connection, _COUNT_DOWN, given)


_LEFT = JOBS.c.open - bindparam("number")
_ENDED = case((_LEFT <= 0, func.coalesce(JOBS.c.ended, bindparam("now"))), else_=None)
_COUNT_DOWN = update(JOBS).where(JOBS.c.jid == bindparam("of")).values(open=_LEFT, ended=_ENDED)


@cache
def _update_targets(names: tuple[str, ...]) -> Update:
    """The statement that sets status, time and these columns of one row; many rows share it."""
    columns: dict[str, Any] = {name: bindparam(name) for name in ("status", "updated", *names)}
    return (
        update(TARGETS)
        .where(TARGETS.c.jid == bindparam("of"), TARGETS.c.system == bindparam("on"))
        .values(columns)
    )


def _outcome(one: Return) -> dict[str, Any]:
    return {
        "why": one.why,
        "started": one.started or None,
        "ended": one.ended or None,
        "exit_code": one.exit_code,
        "changed": one.changed,
        "failed": one.failed,
        "back_by": None,
    }


def _part_row(key: tuple[str, str, int], one: Return) -> dict[str, object]:
    jid, system, part = key
    return {
        "jid": jid,
        "system": system,
        "part": part,
        "parts": one.parts,
        "encoding": one.encoding,
        "body": one.body,
    }


def _statuses(connection: Connection, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The current statuses, locked until the transaction ends; those that no job expects are left out."""
    found: dict[tuple[str, str], str] = {}
    for jid, systems in _by_job(keys).items():
        rows = fetch(connection, _STATUSES, of=jid, some=systems)
        found.update(((jid, system), status) for system, status in rows)
    return found


_STATUSES = (
    select(TARGETS.c.system, TARGETS.c.status)
    .where(TARGETS.c.jid == bindparam("of"), one_of(TARGETS.c.system, "some"))
    .with_for_update()
)
_PARTS = select(RETURNS.c.system, RETURNS.c.part).where(
    RETURNS.c.jid == bindparam("of"), one_of(RETURNS.c.system, "some")
)


def _parts(connection: Connection, keys: Iterable[tuple[str, str]]) -> set[tuple[str, str, int]]:
    found: set[tuple[str, str, int]] = set()
    for jid, systems in _by_job(keys).items():
        rows = fetch(connection, _PARTS, of=jid, some=systems)
        found.update((jid, system, part) for system, part in rows)
    return found


def _by_job(keys: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for jid, system in sorted(keys):
        found.setdefault(jid, []).append(system)
    return found
