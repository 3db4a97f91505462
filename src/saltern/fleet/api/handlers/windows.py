"""Maintenance windows and schedules."""

from __future__ import annotations

from typing import Any

from msgspec import convert, to_builtins

from saltern.fleet.api.call import Call
from saltern.fleet.api.library_shapes import (
    CalendarAnswer,
    CalendarBody,
    ScheduleAnswer,
    ScheduleBody,
    WindowAnswer,
    WindowQuery,
)
from saltern.fleet.api.pages import Page, PageQuery, cut_page
from saltern.fleet.api.route import NoQuery
from saltern.fleet.api.shapes import NoBody
from saltern.fleet.calendars.windows import Asked, Calendar, may_begin, next_windows
from saltern.fleet.controller import chain_library, windows
from saltern.fleet.store import calendars as store
from saltern.fleet.store.calendars import StoredCalendar, StoredSchedule
from saltern.fleet.store.chains import names_of


async def list_windows(call: Call[PageQuery, None]) -> Page[CalendarAnswer]:
    """Calendars of windows by name, and whether each has an open window now."""
    now = call.desk.now()
    rows = await call.read(store.list_calendars)
    found = await call.ask(lambda: [_calendar(one, now) for one in rows])
    return cut_page(found, call.query, lambda one: one.name)


async def set_window(call: Call[NoQuery, CalendarBody]) -> CalendarAnswer:
    """Store a calendar under its name, replacing an earlier one."""
    now, ask = call.desk.now(), call.body
    new = StoredCalendar(
        name=ask.name,
        kind=ask.kind,
        text=ask.text,
        zone=ask.zone,
        target=ask.target,
        note=ask.note,
        author=call.who.name,
        changed=now,
    )
    await call.desk.fleet.resolve(ask.target)  # a target that matches nothing is refused
    await call.ask(windows.keep_calendar, call.desk.fleet.database, call.who.name, new, now)
    return await call.ask(_calendar, new, now)


async def remove_window(call: Call[NoQuery, None]) -> None:
    """Remove a calendar."""
    arguments = (call.desk.fleet.database, call.who.name, call.path["window"], call.desk.now())
    await call.ask(windows.drop_calendar, *arguments)


async def check_windows(call: Call[WindowQuery, None]) -> Page[WindowAnswer]:
    """Whether work may begin on the systems of a target, why not now, and their next windows."""
    query = call.query
    now = call.desk.now() if query.at is None else query.at
    stored = await call.read(store.list_calendars)
    systems = await call.desk.fleet.resolve(query.target)
    fleet = call.desk.fleet
    of_system = await call.ask(windows.calendars_for, stored, systems, fleet.match)
    found = await call.ask(
        lambda: [_window(system, own, now, query) for system, own in sorted(of_system.items())]
    )
    return cut_page(found, query, lambda one: one.system)


def _window(system: str, own: list[Calendar], now: float, query: WindowQuery) -> WindowAnswer:
    verdict = may_begin(own, now, needs=query.needs)
    upcoming = next_windows(own, now, query.count, needs=query.needs) if own else []
    return WindowAnswer(
        system=system,
        open=verdict.open,
        why=verdict.why,
        until=verdict.until,
        next=verdict.next,
        windows=[list(one) for one in upcoming],
        calendars=[one.name for one in own],
    )


def _calendar(stored: StoredCalendar, now: float) -> CalendarAnswer:
    calendar = windows.compile_calendar(stored)
    as_allowed = Asked(name=stored.name, kind="allow", events=calendar.events)
    verdict = may_begin([as_allowed], now)
    return convert({**to_builtins(stored), "open": verdict.open, "next": verdict.next}, CalendarAnswer)


# -- schedules -------------------------------------------------------------------------------------------


async def list_schedules(call: Call[PageQuery, None]) -> Page[ScheduleAnswer]:
    """Schedules by name, each with when it fires next."""
    stored = await call.read(store.list_schedules)
    names = await call.read(names_of, [*{one.chain for one in stored}])
    return cut_page([_answer(one, names[one.chain]) for one in stored], call.query, lambda one: one.name)


async def get_schedule(call: Call[NoQuery, None]) -> ScheduleAnswer:
    """One schedule."""
    return await _schedule(call, await call.read(windows.named_schedule, call.path["schedule"]))


async def set_schedule(call: Call[NoQuery, ScheduleBody]) -> ScheduleAnswer:
    """Store a schedule under its name, replacing an earlier one."""
    now, ask = call.desk.now(), call.body
    stored, version = await call.read(chain_library.find, ask.chain, ask.version)
    inputs = call.desk.fleet.chains.keep_inputs(version.text, ask.inputs)
    await call.desk.fleet.resolve(ask.target)
    new = StoredSchedule(
        name=ask.name,
        chain=stored.id,
        version=ask.version,
        target=ask.target,
        cron=ask.cron,
        zone=ask.zone,
        inputs=windows.as_json(inputs),
        strategy=windows.as_json(ask.strategy),
        overlap=ask.overlap,
        catch_up=ask.catch_up,
        enabled=ask.enabled,
        author=call.who.name,
        changed=now,
    )
    kept = await call.ask(windows.keep_schedule, call.desk.fleet.database, call.who.name, new, now)
    return await _schedule(call, kept)


async def remove_schedule(call: Call[NoQuery, None]) -> None:
    """Remove a schedule; runs that it has started continue."""
    arguments = (call.desk.fleet.database, call.who.name, call.path["schedule"], call.desk.now())
    await call.ask(windows.drop_schedule, *arguments)


async def enable_schedule(call: Call[NoQuery, NoBody]) -> ScheduleAnswer:
    """Enable a schedule. Missed times are not made up."""
    return await _switch(call, enabled=True)


async def disable_schedule(call: Call[NoQuery, NoBody]) -> ScheduleAnswer:
    """Disable a schedule until it is enabled again."""
    return await _switch(call, enabled=False)


async def _switch(call: Call[Any, Any], *, enabled: bool) -> ScheduleAnswer:
    arguments = (call.desk.fleet.database, call.who.name, call.path["schedule"], call.desk.now())
    return await _schedule(call, await call.ask(windows.switch_schedule, *arguments, enabled=enabled))


async def _schedule(call: Call[Any, Any], stored: StoredSchedule) -> ScheduleAnswer:
    chain, _ = await call.read(chain_library.find, stored.chain)
    return _answer(stored, chain.name)


def _answer(stored: StoredSchedule, chain: str) -> ScheduleAnswer:
    given = to_builtins(stored, builtin_types=(bytes,))
    return convert({**given, "chain": chain}, ScheduleAnswer)
