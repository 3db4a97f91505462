"""The calendar: windows and schedules over a week, and why work may not begin now."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from saltern.fleet.console.forms import whole_of
from saltern.fleet.console.row import Act, Data, Form, Page, Visit
from saltern.fleet.console.views.chains import rollout_of

DAY = 86_400.0
WEEK = 7 * DAY
MOST_NAMED = 1  # texts beside the bars of one row


async def gather(visit: Visit) -> Data:
    begin = _monday(visit)
    sheet = await visit.ask.get("/v1/calendar", begin=begin, days=7)
    return {
        "begin": begin,
        "end": begin + WEEK,
        "days": [_day(begin + n * DAY, visit.now) for n in range(7)],
        "now_at": _percent(visit.now, begin) if begin <= visit.now < begin + WEEK else None,
        "rows": [_row(one, begin) for one in sheet["calendars"]],
        "planned": _planned_rows(sheet["fires"], begin),
        "more": sheet["more"],
        "schedules": await visit.ask.every("/v1/schedules"),
        "calendars": await visit.ask.every("/v1/windows"),
        "chains": [one["name"] for one in await visit.ask.every("/v1/chains", most=1000)],
        "why": await _why(visit),
        "asked": {key: visit.query.get(key, "").strip() for key in ("chain", "target")},
        "week": int(visit.query.get("week", "0") or 0) if _is_number(visit.query.get("week", "")) else 0,
    }


def _is_number(text: str) -> bool:
    return text.lstrip("-").isascii() and text.lstrip("-").isdigit() and len(text) < 5


def _monday(visit: Visit) -> float:
    """The beginning of the day in UTC, some weeks before or after today."""
    given = visit.query.get("week", "")
    weeks = int(given) if _is_number(given) else 0
    today = visit.now - visit.now % DAY
    return max(0.0, today + max(-520, min(520, weeks)) * WEEK)


def _day(at: float, now: float) -> Data:
    is_today = at <= now < at + DAY
    return {
        "name": time.strftime("today, %-d" if is_today else "%a %-d", time.gmtime(at)),
        "today": is_today,
    }


def _percent(at: float, begin: float) -> float:
    return round(max(0.0, min(100.0, (at - begin) / WEEK * 100)), 2)


def _bar(kind: str, first: float, last: float, begin: float, title: str) -> Data:
    x = _percent(first, begin)
    return {
        "kind": kind,
        "x": x,
        "w": max(0.3, round(_percent(last, begin) - x, 2)),
        "title": title,
        "text": "",
    }


def _row(one: Data, begin: float) -> Data:
    bars = [_bar(one["kind"], first, last, begin, _times(first, last)) for first, last in one["windows"]]
    return {**one, "bars": bars, "words": _words(one)}


def _times(first: float, last: float) -> str:
    begin, end = (time.strftime("%a %H:%M", time.gmtime(at)) for at in (first, last))
    return f"{begin} to {end} UTC"


def _words(one: Data) -> str:
    """The picture of a row as a sentence."""
    verb = "may run" if one["kind"] == "allow" else "may not run"
    if not one["windows"]:
        return "no window in these days" if one["kind"] == "allow" else "nothing is denied in these days"
    return f"{verb} " + "; ".join(_times(*pair) for pair in one["windows"][:7])


def _planned_rows(fires: Sequence[Data], begin: float) -> list[Data]:
    """What each schedule plans, as one row."""
    rows: dict[str, Data] = {}
    for one in fires:
        row = rows.setdefault(one["schedule"], {**one, "bars": [], "times": []})
        usual = one["p50"] or 600
        row["bars"].append(
            _bar(
                "p50", one["at"], one["at"] + usual, begin, time.strftime("%a %H:%M", time.gmtime(one["at"]))
            )
        )
        if one["p95"] and one["p95"] > usual:
            row["bars"].append(_bar("p95", one["at"] + usual, one["at"] + one["p95"], begin, ""))
        row["times"].append(time.strftime("%a %H:%M", time.gmtime(one["at"])))
    return list(rows.values())


async def _why(visit: Visit) -> Data | None:
    """Why work may not begin on a target now; None without a target."""
    target, chain = (visit.query.get(key, "").strip() for key in ("target", "chain"))
    if not target:
        return None
    found: Data = await visit.ask.get("/v1/windows-why", target=target, chain=chain)
    return found


# -- forms ----------------------------------------------------------------------------------------------


def ical(form: Form) -> str:
    """A calendar from the fields of the form: weekdays and hours, or the pasted text."""
    if form.raw("text").strip():
        return form.raw("text")
    first, last = (form.text(key).replace(":", "") or "0000" for key in ("from", "to"))
    days = form.many("days") or ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
    day = "20200106" if last > first else "20200107"  # past midnight: it ends on the next day
    return "\n".join(
        (
            "BEGIN:VCALENDAR",
            "BEGIN:VEVENT",
            f"DTSTART:20200106T{first}00",
            f"DTEND:{day}T{last}00",
            f"RRULE:FREQ=WEEKLY;BYDAY={','.join(days)}",
            "END:VEVENT",
            "END:VCALENDAR",
            "",
        )
    )


def _window(form: Form) -> Data:
    return {
        "name": form.text("name"),
        "kind": form.text("kind") or "allow",
        "zone": form.text("zone") or "UTC",
        "target": form.text("target") or "*",
        "note": form.text("note"),
        "text": ical(form),
    }


def _schedule(form: Form) -> Data:
    given: dict[str, Any] = {
        "name": form.text("name"),
        "chain": form.text("chain"),
        "cron": form.text("cron"),
        "target": form.text("target"),
        "zone": form.text("zone") or "UTC",
        "overlap": form.text("overlap") or "skip",
        "catch_up": form.text("catch_up") or "one",
        "strategy": rollout_of(form),
    }
    return {**given, "version": whole_of(form.text("version"))} if form.text("version") else given


CALENDAR_PAGES = (
    Page(path="/calendar", name="Calendar", action="windows.read", gather=gather, template="calendar.html"),
)
CALENDAR_ACTS = (
    Act(
        path="/calendar/windows",
        method="POST",
        route="/v1/windows",
        body=_window,
        then="/calendar",
        did="The window is saved",
    ),
    Act(
        path="/calendar/windows/{window}/remove",
        method="DELETE",
        route="/v1/windows/{window}",
        then="/calendar",
        did="The window is removed",
    ),
    Act(
        path="/calendar/schedules",
        method="POST",
        route="/v1/schedules",
        body=_schedule,
        then="/calendar",
        did="The schedule is saved",
    ),
    Act(
        path="/calendar/schedules/{schedule}/enable",
        method="POST",
        route="/v1/schedules/{schedule}/enable",
        body=lambda _form: {},
        then="/calendar",
        did="The schedule is enabled",
    ),
    Act(
        path="/calendar/schedules/{schedule}/disable",
        method="POST",
        route="/v1/schedules/{schedule}/disable",
        body=lambda _form: {},
        then="/calendar",
        did="The schedule is disabled",
    ),
    Act(
        path="/calendar/schedules/{schedule}/remove",
        method="DELETE",
        route="/v1/schedules/{schedule}",
        then="/calendar",
        did="The schedule is removed; runs that it has started continue",
    ),
)
