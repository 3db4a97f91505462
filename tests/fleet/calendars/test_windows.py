"""Maintenance windows: what is open, why not, when next, in zones whose clocks are changed."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.calendars.ical import BadCalendar, read_calendar
from saltern.fleet.calendars.windows import Calendar, Kind, may_begin, merge_intervals, next_windows

BERLIN = "Europe/Berlin"


def at(text: str, zone: str = BERLIN) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


def calendar(*lines: str, kind: Kind = "allow", zone: str = BERLIN, name: str = "nights") -> Calendar:
    text = "\r\n".join(["BEGIN:VCALENDAR", "BEGIN:VEVENT", *lines, "END:VEVENT", "END:VCALENDAR"])
    return Calendar(name=name, kind=kind, events=read_calendar(text, zone))


NIGHTS = calendar("DTSTART:20260101T020000", "DTEND:20260101T060000", "RRULE:FREQ=WEEKLY;BYDAY=SA,SU")


def test_a_window_is_open_from_its_begin_until_before_its_end() -> None:
    found = [
        may_begin([NIGHTS], at(f"2026-11-21T{clock}")).open
        for clock in ("01:59:59", "02:00", "05:59:59", "06:00")
    ]
    assert found == [False, True, True, False]
    assert may_begin([NIGHTS], at("2026-11-21T03:00")).until == at("2026-11-21T06:00")


def test_a_closed_window_says_why_and_when_next() -> None:
    verdict = may_begin([NIGHTS], at("2026-11-16T12:00"))
    assert (verdict.open, verdict.next) == (False, at("2026-11-21T02:00"))
    assert verdict.why == "no window of nights is open"


def test_51_what_does_not_fit_any_more_waits_for_the_next_window() -> None:
    verdict = may_begin([NIGHTS], at("2026-11-21T05:30"), needs=3600)
    assert (verdict.open, verdict.next) == (False, at("2026-11-22T02:00"))
    assert "it needs 3600 seconds, and the window ends in 1800" in verdict.why
    assert may_begin([NIGHTS], at("2026-11-21T05:00"), needs=3600).open


def test_51_denied_is_denied_whatever_allows_it() -> None:
    freeze = calendar("DTSTART;VALUE=DATE:20261120", "DTEND;VALUE=DATE:20261122", kind="deny", name="freeze")
    verdict = may_begin([NIGHTS, freeze], at("2026-11-21T03:00"))
    assert verdict.why == "freeze denies it until 2026-11-21 23:00:00 UTC"
    assert verdict.next == at("2026-11-22T02:00")
    assert may_begin([freeze], at("2026-11-23T12:00")).open


def test_without_calendars_all_is_open() -> None:
    assert may_begin([], 0).open


def test_the_next_windows_are_listed() -> None:
    found = next_windows([NIGHTS], at("2026-11-21T03:00"), 3)
    assert found == [
        (at("2026-11-21T03:00"), at("2026-11-21T06:00")),
        (at("2026-11-22T02:00"), at("2026-11-22T06:00")),
        (at("2026-11-28T02:00"), at("2026-11-28T06:00")),
    ]


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 3), ("2026-10-25", 5), ("2026-11-01", 4)])
def test_51_a_night_in_which_the_clock_is_changed_is_as_long_as_it_is(day: str, hours: int) -> None:
    ((begin, end),) = next_windows([NIGHTS], at(f"{day}T00:00"), 1)
    assert end == at(f"{day}T06:00")
    assert (end - begin) / 3600 == hours


def test_a_duration_is_that_many_seconds() -> None:
    fixed = calendar("DTSTART;TZID=Europe/Berlin:20261024T230000", "DURATION:PT6H", zone="UTC")
    ((begin, end),) = next_windows([fixed], at("2026-10-24T00:00"), 1)
    assert (begin, end - begin) == (at("2026-10-24T23:00"), 6 * 3600)


def test_dates_are_left_out_and_added() -> None:
    some = calendar(
        "DTSTART:20261116T020000Z",
        "DURATION:PT1H",
        "RRULE:FREQ=DAILY;COUNT=3",
        "EXDATE:20261117T020000Z",
        "RDATE:20261201T020000Z",
    )
    found = [datetime.fromtimestamp(begin, ZoneInfo("UTC")).day for begin, _ in next_windows([some], 0, 9)]
    assert found == []  # they are further away than windows are looked for
    now = at("2026-11-01T00:00")
    assert [datetime.fromtimestamp(one, ZoneInfo("UTC")).day for one, _ in next_windows([some], now, 9)] == [
        16,
        18,
        1,
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no BEGIN:VCALENDAR"),
        ("BEGIN:VCALENDAR\nEND:VCALENDAR", "has no event"),
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VEVENT", "line 2: an event has no DTSTART"),
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:x\nEND:VEVENT", "line 3: 'x' is not a time"),
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20260101T000000\nEND:VEVENT", "neither DTEND nor DURATION"),
        (
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;TZID=Moon:20260101T000000\nEND:VEVENT",
            "no time zone is called 'Moon'",
        ),
    ],
)
def test_a_text_that_is_no_calendar_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadCalendar, match=why):
        read_calendar(text, "UTC")


def test_folded_lines_and_other_components_are_read_over() -> None:
    text = (
        "BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nDTSTART:junk\nEND:VTIMEZONE\nBEGIN:VEVENT\n"
        "DTSTART:2026\n 1116T020000Z\nDURATION:PT1H\nSUMMARY:a\\, b\nBEGIN:VALARM\nX\n"
        "END:VALARM\nEND:VEVENT\n"
    )
    (event,) = read_calendar(text, "UTC")
    assert (event.begin, event.title) == (datetime(2026, 11, 16, 2), "a, b")


SPANS = st.lists(st.tuples(st.integers(0, 200), st.integers(1, 30)), min_size=1, max_size=6)


def _spans(spans: list[tuple[int, int]], kind: Kind) -> Calendar:
    base = at("2026-11-16T00:00", "UTC")
    lines = []
    for hour, length in spans:
        begin = datetime.fromtimestamp(base + hour * 3600, ZoneInfo("UTC"))
        lines += ["BEGIN:VEVENT", f"DTSTART:{begin:%Y%m%dT%H%M%SZ}", f"DURATION:PT{length}H", "END:VEVENT"]
    text = "\n".join(["BEGIN:VCALENDAR", *lines, "END:VCALENDAR"])
    return Calendar(name=kind, kind=kind, events=read_calendar(text, "UTC"))


@given(SPANS, SPANS, st.integers(0, 250))
def test_51_open_is_allowed_and_not_denied(
    allowed: list[tuple[int, int]], denied: list[tuple[int, int]], hour: int
) -> None:
    both = [_spans(allowed, "allow"), _spans(denied, "deny")]
    now = at("2026-11-16T00:00", "UTC") + hour * 3600
    inside = [any(begin <= hour < begin + length for begin, length in spans) for spans in (allowed, denied)]
    verdict = may_begin(both, now)
    assert verdict.open is (inside[0] and not inside[1])
    if not verdict.open and verdict.next is not None:
        assert may_begin(both, verdict.next).open
    assert merge_intervals(next_windows(both, now, 99)) == next_windows(both, now, 99)
