"""Stores records of journals, and finds returns of jobs that were not sent to the system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, bindparam, func, select, update

from saltern.fleet.protocol.messages import Records
from saltern.fleet.protocol.verbs import DEPLOY
from saltern.fleet.store.bulk import fetch, insert_rows, one_of, run_for_each
from saltern.fleet.store.tables import JOBS, RECORDS, TARGETS

MOST_RECORDS = 200_000  # of one job on one system


class Standing(Struct, frozen=True):
    """The status of a job on one system, for a sync."""

    jid: str
    status: str
    records: int
    cancelled: bool


def expected_pairs(connection: Connection, pairs: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those of these (jid, system) that are in the expected set of a job."""
    wanted: dict[str, list[str]] = {}
    for jid, system in pairs:
        wanted.setdefault(jid, []).append(system)
    found: set[tuple[str, str]] = set()
    for jid, systems in wanted.items():
        rows = fetch(connection, _EXPECTED, of=jid, some=systems)
        found.update((jid, system) for (system,) in rows)
    return found


_EXPECTED = select(TARGETS.c.system).where(TARGETS.c.jid == bindparam("of"), one_of(TARGETS.c.system, "some"))


def store_records(connection: Connection, batch: Sequence[tuple[str, Records]]) -> list[str]:
    """Store records of journals. Known ones are skipped; records after a gap are not stored, and the agent
    sends again from the first missing one. Returns the systems that sent records of a job that is not theirs.
    """
    marks = _marks(connection, {(one.jid, system) for system, one in batch})
    rows: list[dict[str, object]] = []
    for system, one in sorted(batch, key=lambda pair: pair[1].first):
        key = (one.jid, system)
        if key not in marks or one.first > marks[key]:
            continue
        for number, record in enumerate(one.records[marks[key] - one.first :], start=marks[key]):
            if number >= MOST_RECORDS:
                break
            rows.append(
                {"jid": one.jid, "system": system, "number": number, "data": msgspec.json.encode(record)}
            )
            marks[key] = number + 1
    insert_rows(connection, RECORDS, rows)
    if rows:
        given = [{"of": jid, "on": system, "mark": mark} for (jid, system), mark in marks.items()]
        run_for_each(connection, _SET_MARK, given)
    return [system for system, one in batch if (one.jid, system) not in marks]


_SET_MARK = (
    update(TARGETS)
    .where(TARGETS.c.jid == bindparam("of"), TARGETS.c.system == bindparam("on"))
    .values(records=bindparam("mark"))
)


def _marks(connection: Connection, pairs: set[tuple[str, str]]) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for jid, system in sorted(pairs):
        row = (TARGETS.c.jid == jid) & (TARGETS.c.system == system)
        mark = connection.scalar(select(TARGETS.c.records).where(row).with_for_update())
        if mark is not None:
            found[jid, system] = int(mark)
    return found


def standings(connection: Connection, system: str, jids: Sequence[str]) -> dict[str, Standing]:
    """The status of these jobs on a system, without jobs that were not sent to it."""
    query = (
        select(TARGETS.c.jid, TARGETS.c.status, TARGETS.c.records, JOBS.c.cancelled_at)
        .join(JOBS, JOBS.c.jid == TARGETS.c.jid)
        .where(TARGETS.c.system == system, one_of(TARGETS.c.jid, "some"))
    )
    return {
        str(row.jid): Standing(str(row.jid), str(row.status), int(row.records), row.cancelled_at is not None)
        for row in connection.execute(query, {"some": [*jids]})
    }


def begun_jobs(connection: Connection, system: str) -> dict[str, Standing]:
    """The jobs that an agent was given and has not ended, as far as is known. The one that has installed it
    over SSH is none of its own."""
    query = (
        select(TARGETS.c.jid, TARGETS.c.status, TARGETS.c.records, JOBS.c.cancelled_at)
        .join(JOBS, JOBS.c.jid == TARGETS.c.jid)
        .where(TARGETS.c.system == system, TARGETS.c.status.in_(("sent", "running", "down")))
        .where(JOBS.c.function != DEPLOY)
    )
    return {
        str(row.jid): Standing(str(row.jid), str(row.status), int(row.records), row.cancelled_at is not None)
        for row in connection.execute(query)
    }


def ended_at(connection: Connection, jids: Iterable[str], now: float) -> list[str]:
    """Those of these jobs that ended in the transaction of this moment."""
    return sorted(jid for (jid,) in fetch(connection, _ENDED_AT, some=[*jids], now=now))


_ENDED_AT = select(JOBS.c.jid).where(one_of(JOBS.c.jid, "some"), JOBS.c.ended == bindparam("now"))


def count_open(connection: Connection) -> int:
    """Jobs that have not ended."""
    return int(connection.scalar(select(func.count()).select_from(JOBS).where(JOBS.c.ended.is_(None))) or 0)
