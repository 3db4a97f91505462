"""Runs with many systems: grouped rows, causes, moments, and the legs of a system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import convert

from saltern.fleet.api.call import Call
from saltern.fleet.api.pages import Page, PageQuery, decode_cursor, encode_cursor, make_page
from saltern.fleet.api.problems import unknown
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.run_shapes import (
    ActionHead,
    CauseAnswer,
    CauseQuery,
    CausesAnswer,
    MomentsAnswer,
    RecentQuery,
    RowsAnswer,
    RowsQuery,
    ShapeRow,
    ShapesAnswer,
    ShapesQuery,
    SystemLeg,
)
from saltern.fleet.chains.causes import Cause, shared_facts
from saltern.fleet.controller.chains import moments, run_views
from saltern.fleet.store import chain_runs
from saltern.fleet.store import systems as store

DAY = 86_400.0
SOME = 5
LATELY = 10.0  # seconds: facts that are older are read again before causes are compared
COMPARED = 5  # causes for which shared facts of their systems are looked up


async def get_shapes(call: Call[ShapesQuery, None]) -> ShapesAnswer:
    """A run as a matrix with equal rows grouped."""
    query, run = call.query, call.path["run"]
    found = await call.read(run_views.shapes, run, query.at, query.most)
    if found is None:
        raise unknown("run", run)
    return convert(found, ShapesAnswer)


async def list_rows(call: Call[RowsQuery, None]) -> RowsAnswer:
    """Each system of a run as a row of the matrix, in the order of the waves."""
    query, run = call.query, call.path["run"]
    after = decode_cursor(query.cursor, tuple[int])[0] if query.cursor else -1
    wave = None if query.wave is None else query.wave - 1
    found = await call.read(run_views.rows, run, after, query.limit + 1, wave=wave, status=query.status)
    if found is None:
        raise unknown("run", run)
    rows = found["rows"]
    more = encode_cursor(rows[query.limit - 1]["place"]) if len(rows) > query.limit else None
    items = convert(rows[: query.limit], list[ShapeRow])
    return RowsAnswer(actions=convert(found["actions"], list[ActionHead]), items=items, next=more)


async def list_causes(call: Call[CauseQuery, None]) -> CausesAnswer:
    """Why systems of a run have failed: grouped by cause, those of most systems first."""
    run = call.path["run"]
    found = await call.read(run_views.causes, [run])
    if not found:
        await _check_run(call, run)
        return CausesAnswer(items=[], more=0, more_systems=0)
    waves = await call.read(run_views.wave_systems, run)
    inventory = call.desk.fleet.inventory
    await inventory.refresh(within=LATELY)
    shared = [_shared_facts(call, cause, waves) for _, cause in found[:COMPARED]]
    return _causes(found, {run: ""}, call.query, shared)


async def list_recent_causes(call: Call[RecentQuery, None]) -> CausesAnswer:
    """Why systems have failed, in all runs that are open or ended recently."""
    since = call.query.since if call.query.since is not None else call.desk.now() - DAY
    runs = await call.read(run_views.recent, since)
    found = await call.read(run_views.causes, [one["run"] for one in runs])
    return _causes(found, {one["run"]: one["chain"] for one in runs}, call.query, [])


def _causes(
    found: Sequence[tuple[str, Cause]],
    chains: dict[str, str],
    query: CauseQuery,
    shared: Sequence[list[str]],
) -> CausesAnswer:
    items = [
        CauseAnswer(
            run=run,
            chain=chains.get(run, ""),
            step=cause.step,
            status=cause.status,
            message=cause.shown,
            pattern=cause.pattern,
            count=len(cause.systems),
            some=cause.systems[:SOME],
            waves=sorted(cause.waves),
            since=cause.since,
            shared=shared[at] if at < len(shared) else [],
            systems=cause.systems if query.names else [],
        )
        for at, (run, cause) in enumerate(found[: query.most])
    ]
    rest = found[query.most :]
    return CausesAnswer(items=items, more=len(rest), more_systems=sum(len(one.systems) for _, one in rest))


def _shared_facts(call: Call[Any, None], cause: Cause, waves: dict[str, int]) -> list[str]:
    """Facts that the failed systems have and the others in their waves lack."""
    failed = frozenset(cause.systems)
    others = frozenset(one for one, wave in waves.items() if wave in cause.waves) - failed
    pairs = shared_facts(call.desk.fleet.inventory.dividing_facts(), failed, others)
    return [f"{name} {value}" for name, value in pairs]


async def list_moments(call: Call[NoQuery, None]) -> MomentsAnswer:
    """The moments at which something happened to a run."""
    found = await call.read(moments.moments, call.path["run"], call.desk.now())
    if found is None:
        raise unknown("run", call.path["run"])
    return convert({"items": found}, MomentsAnswer)


async def list_system_legs(call: Call[PageQuery, None]) -> Page[SystemLeg]:
    """The runs of chains on one system, with the result there, the newest first."""
    system, query = call.path["system"], call.query
    if await call.read(store.system, system) is None:
        raise unknown("system", system)
    before = decode_cursor(query.cursor, tuple[str])[0] if query.cursor else ""
    rows = await call.read(run_views.system_legs, system, before, query.limit + 1)
    return make_page(convert(rows, list[SystemLeg]), query.limit, lambda one: (one.run,))


async def _check_run(call: Call[Any, None], run: str) -> None:
    if await call.read(chain_runs.run_row, run) is None:
        raise unknown("run", run)
