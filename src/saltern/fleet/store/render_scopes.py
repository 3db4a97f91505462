"""The delayed blocks of jobs that are open: kept while a job is open on a system, then removed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, and_, delete, exists, insert, select

from saltern.fleet.store.bulk import fetch
from saltern.fleet.store.render_tables import RENDER_SCOPES
from saltern.fleet.store.statuses import OPEN
from saltern.fleet.store.tables import JOBS, TARGETS

Run = tuple[str, str]  # a job and a system


class Asker(Struct, frozen=True):
    """What a system is to a job: its status there, empty if the job is none of its own; and the job."""

    status: str = ""
    work: bytes = b""


def asker_of(connection: Connection, jid: str, system: str) -> Asker:
    query = select(TARGETS.c.status, JOBS.c.work).join(JOBS, JOBS.c.jid == TARGETS.c.jid)
    row = connection.execute(query.where(TARGETS.c.jid == jid, TARGETS.c.system == system)).one_or_none()
    return Asker(row.status, bytes(row.work)) if row is not None else Asker()


def keep_scopes(connection: Connection, run: Run, scopes: Mapping[str, bytes], now: float) -> None:
    """Keep scopes by their names; a name always means the same."""
    known = set(scope_names(connection, run))
    rows = [
        {"jid": run[0], "system": run[1], "name": name, "data": data, "at": now}
        for name, data in scopes.items()
        if name not in known
    ]
    if rows:
        connection.execute(insert(RENDER_SCOPES), rows)


def scope_names(connection: Connection, run: Run) -> list[str]:
    return list(connection.scalars(select(RENDER_SCOPES.c.name).where(_of(run))))


def scopes_of(connection: Connection, run: Run, names: Collection[str]) -> dict[str, bytes]:
    query = select(RENDER_SCOPES.c.name, RENDER_SCOPES.c.data).where(
        _of(run), RENDER_SCOPES.c.name.in_(names)
    )
    return {row.name: bytes(row.data) for row in connection.execute(query)}


def open_runs(connection: Connection, runs: Iterable[Run]) -> set[Run]:
    """Those of the runs that have not ended."""
    wanted = set(runs)
    jids = sorted({jid for jid, _ in wanted})
    query = select(TARGETS.c.jid, TARGETS.c.system).where(
        TARGETS.c.jid.in_(jids[:500]), TARGETS.c.status.in_(OPEN)
    )
    found = {(row.jid, row.system) for row in connection.execute(query)}
    return wanted & found | {run for run in wanted if run[0] in jids[500:]}


def has_scopes(connection: Connection) -> bool:
    """True if blocks are kept for any run."""
    return bool(fetch(connection, _ONE))


_ONE = select(RENDER_SCOPES.c.jid).limit(1)


def remove_ended(connection: Connection) -> int:
    """Remove the blocks of runs that have ended; return how many scopes went."""
    same = and_(TARGETS.c.jid == RENDER_SCOPES.c.jid, TARGETS.c.system == RENDER_SCOPES.c.system)
    is_open = exists(select(TARGETS.c.jid).where(same, TARGETS.c.status.in_(OPEN)))
    return connection.execute(delete(RENDER_SCOPES).where(~is_open)).rowcount


def _of(run: Run) -> ColumnElement[bool]:
    return and_(RENDER_SCOPES.c.jid == run[0], RENDER_SCOPES.c.system == run[1])
