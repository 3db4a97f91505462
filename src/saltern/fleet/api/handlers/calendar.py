"""The calendar: windows and what is planned in them, and why work may not begin now."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from heapq import nsmallest
from typing import Any, Literal

from msgspec import Struct

from saltern.fleet.api.call import Call
from saltern.fleet.api.console_shapes import (
    CalendarQuery,
    CalendarRow,
    CalendarSheet,
    FireAnswer,
    WhyAnswer,
    WhyGroup,
    WhyQuery,
)
from saltern.fleet.calendars.schedule import BadSchedule, next_fire
from saltern.fleet.calendars.windows import Calendar, may_begin
from saltern.fleet.controller import chain_library, windows
from saltern.fleet.controller.inventory import Inventory
from saltern.fleet.controller.target import expand, refuse
from saltern.fleet.store import calendars as store
from saltern.fleet.store import chains, inbox
from saltern.fleet.store.calendars import StoredSchedule
from saltern.fleet.store.database import Connection
from saltern.targeting.match import BadTarget

DAY = 86_400.0
MOST_FIRES = 60  # of one schedule
SOME = 12


async def show_calendar(call: Call[CalendarQuery, None]) -> CalendarSheet:
    """Windows of some days, and what schedules plan in them."""
    now, query = call.desk.now(), call.query
    begin = now if query.begin is None else query.begin
    end = begin + query.days * DAY
    rows = [await _calendar(call, one, begin, end) for one in await call.read(store.list_calendars)]
    fires, more = await call.read(_fires, begin, end, query.usual)
    return CalendarSheet(begin=begin, end=end, now=now, calendars=rows, fires=fires, more=more)


async def _calendar(
    call: Call[Any, None], one: store.StoredCalendar, begin: float, end: float
) -> CalendarRow:
    systems = await call.desk.fleet.resolve(one.target) if call.query.count else None
    found = await call.ask(lambda: windows.compile_calendar(one).intervals(begin, end))
    return CalendarRow(
        name=one.name,
        kind=one.kind,
        target=one.target,
        note=one.note,
        zone=one.zone,
        systems=None if systems is None else len(systems),
        windows=[[max(first, begin), min(last, end)] for first, last in found],
    )


def _fires(
    connection: Connection, begin: float, end: float, is_usual: bool
) -> tuple[list[FireAnswer], list[str]]:
    found: list[FireAnswer] = []
    more: list[str] = []
    stored = store.list_schedules(connection)
    names = chains.names_of(connection, [*{one.chain for one in stored}])
    for one in stored:
        times = list(_times(one, begin, end)) if one.enabled and one.next_at is not None else []
        if not times:
            continue
        if len(times) > MOST_FIRES:
            more.append(one.name)
        usual = inbox.usual_times(connection, one.chain) if is_usual else None
        found += [_fire(one, names[one.chain], at, usual) for at in times[:MOST_FIRES]]
    return sorted(found, key=lambda one: (one.at, one.schedule)), more


def _fire(one: StoredSchedule, chain: str, at: float, usual: tuple[float, float] | None) -> FireAnswer:
    p50, p95 = usual or (None, None)
    return FireAnswer(schedule=one.name, chain=chain, target=one.target, at=at, p50=p50, p95=p95)


def _times(one: StoredSchedule, begin: float, end: float) -> Iterator[float]:
    """When a schedule fires between two times: up to one time more than is listed."""
    timing, at = windows.timing_of(one), begin - 1
    try:
        for _ in range(MOST_FIRES + 1):
            at = next_fire(timing, at)
            if at >= end:
                return
            yield at
    except BadSchedule:
        return


# -- why not now ----------------------------------------------------------------------------------------


class _Key(Struct, frozen=True):
    state: Literal["open", "waits", "held", "away"]
    why: str
    until: float | None = None
    next: float | None = None
    run: str = ""
    calendars: tuple[str, ...] = ()


async def explain_windows(call: Call[WhyQuery, None]) -> WhyAnswer:
    """Whether work may begin on the systems of a target now, and why not, grouped by reason."""
    query = call.query
    now = call.desk.now() if query.at is None else query.at
    inventory = call.desk.fleet.inventory
    systems = await _resolve(inventory, query.target)
    needs = query.needs or (await call.read(_needs, query.chain) if query.chain else 0)

    def explain(connection: Connection) -> list[WhyGroup]:
        stored = store.list_calendars(connection)
        own = windows.calendar_groups(stored, systems, partial(_match, inventory))
        held, away = inbox.held_systems(connection), inbox.away_systems(connection)
        names = {_held_key(*pair): some & systems for pair, some in held.items()}
        return _groups({**names, **_members(own, frozenset().union(*names.values()), away, now, needs)})

    groups = await call.read(explain)
    return WhyAnswer(target=query.target, systems=len(systems), needs=needs, groups=groups)


async def _resolve(inventory: Inventory, target: str) -> frozenset[str]:
    """The accepted systems of a target, as a set: it may mean most of a large fleet."""
    await inventory.refresh()
    try:
        return inventory.select_set(expand(target, inventory.groups))
    except BadTarget as problem:
        raise refuse(problem) from None


def _match(inventory: Inventory, target: str, systems: Collection[str]) -> frozenset[str]:
    """The given systems that a target matches, as a set."""
    return inventory.select_set(expand(target, inventory.groups), systems)


def _needs(connection: Connection, chain: str) -> float:
    """The time within which a chain usually ends."""
    stored, _ = chain_library.find(connection, chain)
    usual = inbox.usual_times(connection, stored.id)
    return usual[1] if usual else 0


def _members(
    own: list[tuple[list[Calendar], frozenset[str]]],
    held: frozenset[str],
    away: set[str],
    now: float,
    needs: float,
) -> dict[_Key, frozenset[str]]:
    """The systems of each reason but one: those that a run holds. What is away is not asked for windows."""
    found: dict[_Key, list[frozenset[str]]] = {}
    for calendars, members in own:
        rest = members - held if held else members
        found.setdefault(AWAY, []).append(rest & away)
        verdict = _verdict(calendars, tuple([one.name for one in calendars]), now, needs)
        found.setdefault(verdict, []).append(rest - away)
    return {key: parts[0].union(*parts[1:]) for key, parts in found.items()}


def _verdict(calendars: list[Calendar], names: tuple[str, ...], now: float, needs: float) -> _Key:
    verdict = may_begin(calendars, now, needs=needs)
    state: Literal["open", "waits"] = "open" if verdict.open else "waits"
    return _Key(state, verdict.why, verdict.until, verdict.next, calendars=names)


AWAY = _Key("away", "not connected; it begins when the system is back")


def _held_key(run: str, chain: str) -> _Key:
    return _Key("held", f"held by {chain}, run {run}", run=run)


def _groups(members: dict[_Key, frozenset[str]]) -> list[WhyGroup]:
    order = ("open", "waits", "held", "away")
    some = ((key, own) for key, own in members.items() if own)
    rows = sorted(some, key=lambda row: (order.index(row[0].state), -len(row[1])))
    return [
        WhyGroup(
            state=key.state,
            why=key.why,
            systems=len(own),
            some=nsmallest(SOME, own),
            until=key.until,
            next=key.next,
            run=key.run,
            calendars=[*key.calendars],
        )
        for key, own in rows
    ]
