"""Maintenance windows and schedules of a controller: stores, checks and queries them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from msgspec import json
from msgspec.structs import replace

from saltern.fleet.calendars.ical import BadCalendar, read_calendar
from saltern.fleet.calendars.schedule import BadSchedule, Timing, check_timing, next_fire
from saltern.fleet.calendars.windows import Calendar, prepare_calendar
from saltern.fleet.store import audit, calendars
from saltern.fleet.store.calendars import StoredCalendar, StoredSchedule
from saltern.fleet.store.database import Connection, Database
from saltern.language.diagnostics import Diagnostic, OperationError

Match = Callable[[str, Collection[str]], Collection[str]]


def keep_calendar(database: Database, who: str, new: StoredCalendar, now: float) -> StoredCalendar:
    """Store a calendar, if it can be read."""
    compile_calendar(new)
    with database.write() as connection:
        calendars.set_calendar(connection, new)
        detail = {"name": new.name, "kind": new.kind, "target": new.target, "zone": new.zone}
        audit.append(connection, who, "window.set", detail, now)
    return new


def drop_calendar(database: Database, who: str, name: str, now: float) -> None:
    with database.write() as connection:
        if not calendars.remove_calendar(connection, name):
            what, fix = f"no window is called {name!r}", "saltern window list shows them"
            raise OperationError(Diagnostic(code="window-unknown", what=what, fix=fix))
        audit.append(connection, who, "window.remove", {"name": name}, now)


def compile_calendar(stored: StoredCalendar) -> Calendar:
    """The calendar as rules. Raises ``OperationError`` with the line that is wrong."""
    try:
        events = read_calendar(stored.text, stored.zone)
    except BadCalendar as problem:
        what = f"the calendar {stored.name!r}: {problem}"
        fix = "export it as iCalendar; docs/guides/windows-and-schedules.md says what is read"
        raise OperationError(Diagnostic(code="window-invalid", what=what, fix=fix)) from None
    return Calendar(name=stored.name, kind="deny" if stored.kind == "deny" else "allow", events=events)


def calendars_for(
    stored: Sequence[StoredCalendar],
    systems: Sequence[str],
    match: Match,
    compile_one: Callable[[StoredCalendar], Calendar] | None = None,
) -> dict[str, list[Calendar]]:
    """The calendars of each system."""
    found: dict[str, list[Calendar]] = {system: [] for system in systems}
    for one in stored:
        calendar = (compile_one or compile_calendar)(one)
        for system in match(one.target, systems):
            found[system].append(calendar)
    return found


def calendar_groups(
    stored: Sequence[StoredCalendar], systems: Collection[str], match: Match
) -> list[tuple[list[Calendar], frozenset[str]]]:
    """Groups of systems with the same calendars: few, however many systems there are."""
    everyone = frozenset(systems)
    found: list[tuple[list[Calendar], frozenset[str]]] = [([], everyone)]
    for one in stored:
        calendar, meant = (
            prepare_calendar(compile_calendar(one)),
            frozenset(match(one.target, everyone)),
        )  # of a set it is the set itself
        split = [
            part
            for calendars, members in found
            for part in ((calendars, members - meant), ([*calendars, calendar], members & meant))
        ]
        found = [part for part in split if part[1]]
    return found


# -- schedules -------------------------------------------------------------------------------------------


def timing_of(stored: StoredSchedule) -> Timing:
    return Timing(
        cron=stored.cron,
        zone=stored.zone,
        overlap=stored.overlap,  # type: ignore[arg-type]
        catch_up=stored.catch_up,  # type: ignore[arg-type]
    )


def keep_schedule(database: Database, who: str, new: StoredSchedule, now: float) -> StoredSchedule:
    """Store a schedule with its next time."""
    timing = timing_of(new)
    try:
        check_timing(timing)
    except BadSchedule as problem:
        raise OperationError(Diagnostic(code="schedule-invalid", what=str(problem))) from None
    stored = replace(new, next_at=next_fire(timing, now) if new.enabled else None)
    with database.write() as connection:
        calendars.set_schedule(connection, stored)
        detail = {"name": new.name, "cron": new.cron, "zone": new.zone, "target": new.target}
        audit.append(connection, who, "schedule.set", {**detail, "enabled": new.enabled}, now)
    return stored


def drop_schedule(database: Database, who: str, name: str, now: float) -> None:
    with database.write() as connection:
        if not calendars.remove_schedule(connection, name):
            raise unknown_schedule(name)
        audit.append(connection, who, "schedule.remove", {"name": name}, now)


def switch_schedule(database: Database, who: str, name: str, now: float, *, enabled: bool) -> StoredSchedule:
    """Enable or disable a schedule. Times that passed while it was disabled are not made up."""
    with database.read() as connection:
        found = named_schedule(connection, name)
    return keep_schedule(database, who, replace(found, enabled=enabled, changed=now), now)


def named_schedule(connection: Connection, name: str) -> StoredSchedule:
    found = calendars.schedule_named(connection, name)
    if found is None:
        raise unknown_schedule(name)
    return found


def unknown_schedule(name: str) -> OperationError:
    what, fix = f"no schedule is called {name!r}", "saltern schedule list shows them"
    return OperationError(Diagnostic(code="schedule-unknown", what=what, fix=fix))


def as_json(value: object) -> bytes:
    return json.encode(value)
