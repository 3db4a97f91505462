"""iCalendar → events: the part of a calendar program's export that windows need.

Of a ``VEVENT`` these are read: DTSTART, DTEND or DURATION, RRULE, RDATE, EXDATE, SUMMARY; times in UTC, in a
zone of the IANA database (``TZID``), as a date, or without a zone, which means that of the calendar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from msgspec import Struct

from saltern.fleet.calendars.recurrence import BadRule, Rule, read_rule, read_time, starts

IGNORED = frozenset({"VTIMEZONE", "VALARM", "VTODO", "VJOURNAL", "VFREEBUSY"})
MOST_TEXT = 1_000_000
_DURATION = re.compile(r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
Interval = tuple[float, float]


class BadCalendar(ValueError):
    """A text that is not a calendar: what is wrong, and in which line."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {what}" if line else what)


class Event(Struct, frozen=True, kw_only=True):
    """``begin`` and ``end`` are times of a clock in ``zone``; an all-day event begins at midnight there.

    ``lasts``: seconds, in place of an end. Without a rule it happens once, and at the times in ``also``;
    never at the times in ``never``.
    """

    begin: datetime
    zone: str
    end: datetime | None = None
    lasts: float = 0
    rule: Rule | None = None
    also: tuple[datetime, ...] = ()
    never: tuple[datetime, ...] = ()
    title: str = ""

    def intervals(self, begin: float, end: float) -> Iterator[Interval]:
        """The occurrences of the event between two times, in seconds since 1970; not cut at these times."""
        for start in self._starts(begin, end):
            interval = self._interval(start)
            if interval[1] > begin and interval[0] < end and interval[0] < interval[1]:
                yield interval

    def _starts(self, begin: float, end: float) -> Iterator[datetime]:
        since = self._since(begin)
        found = starts(self.rule, self.begin, since) if self.rule else iter((self.begin,))
        for start in found:
            if _instant(start, self.zone) >= end:
                break
            if start not in self.never:
                yield start
        yield from (one for one in self.also if one not in self.never)

    def _since(self, begin: float) -> date | None:
        """A day before which no occurrence begins that lasts until ``begin``, in any zone; None:
        check all.
        """
        length = self.lasts if self.end is None else (self.end - self.begin).total_seconds()
        earliest = begin - length - 2 * 86_400
        return datetime.fromtimestamp(earliest, UTC).date() if 0 < earliest < 1e11 else None

    def _interval(self, start: datetime) -> Interval:
        """The occurrence at a time, by the clock: a night in which the clock is put back is an hour
        longer.
        """
        begin = _instant(start, self.zone)
        if self.end is None:
            return begin, begin + self.lasts
        return begin, _instant(start + (self.end - self.begin), self.zone)


def _instant(local: datetime, zone: str) -> float:
    """A time that the clock skips becomes the next one; of a time that occurs twice, the first counts."""
    return local.replace(tzinfo=ZoneInfo(zone)).timestamp()


@lru_cache(maxsize=128)
def read_calendar(text: str, zone: str) -> tuple[Event, ...]:
    """All events of a calendar; ``zone`` applies to times that name none. Raises ``BadCalendar``."""
    if len(text) > MOST_TEXT:
        raise BadCalendar(f"a calendar has {MOST_TEXT:,} characters at most")
    lines = list(_unfold_lines(text))
    if not any(line.upper() == "BEGIN:VCALENDAR" for _, line in lines):
        raise BadCalendar("there is no BEGIN:VCALENDAR; export it as iCalendar (.ics)")
    events = [_event(part, zone) for part in _parts(lines)]
    if not events:
        raise BadCalendar("the calendar has no event")
    return tuple(events)


def _unfold_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a calendar with their numbers; a line that begins with a space continues the one
    before.
    """
    held, at = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line[:1] in (" ", "\t"):
            held += line[1:]
            continue
        if held:
            yield at, held
        held, at = line.strip(), number
    if held:
        yield at, held


Part = list[tuple[int, str, dict[str, str], str]]


def _parts(lines: list[tuple[int, str]]) -> Iterator[Part]:
    """The properties of each event: line, name, parameters, value."""
    part: Part | None = None
    skipped = ""
    for number, line in lines:
        word = line.upper()
        if skipped:
            skipped = "" if word == f"END:{skipped}" else skipped
        elif word.startswith("BEGIN:") and word[6:] in IGNORED:
            skipped = word[6:]
        elif word == "BEGIN:VEVENT":
            part = [(number, "BEGIN", {}, "")]
        elif word == "END:VEVENT" and part is not None:
            yield part
            part = None
        elif part is not None:
            part.append(_property(number, line))


def _property(number: int, line: str) -> tuple[int, str, dict[str, str], str]:
    found = re.fullmatch(r'([A-Za-z-]+)((?:;[^:="]+=(?:"[^"]*"|[^:;"]*))*):(.*)', line)
    if found is None:
        raise BadCalendar(f"{line[:60]!r} is not a property", number)
    given = re.findall(r';([^=]+)=(?:"([^"]*)"|([^;"]*))', found[2])
    return (
        number,
        found[1].upper(),
        {name.upper(): quoted or plain for name, quoted, plain in given},
        found[3],
    )


def _event(part: Part, zone: str) -> Event:
    first = {name: (line, more, value) for line, name, more, value in reversed(part)}
    if "DTSTART" not in first:
        raise BadCalendar("an event has no DTSTART", part[0][0])
    begin, own = _time(*first["DTSTART"], zone)
    end, lasts = _end(first, begin, own, zone)
    return Event(
        begin=begin,
        zone=own,
        end=end,
        lasts=lasts,
        rule=_rule(*first["RRULE"]) if "RRULE" in first else None,
        also=_times(part, "RDATE", begin, own),
        never=_times(part, "EXDATE", begin, own),
        title=first["SUMMARY"][2].replace("\\n", " ").replace("\\", "") if "SUMMARY" in first else "",
    )


def _rule(line: int, _more: dict[str, str], value: str) -> Rule:
    try:
        return read_rule(value)
    except BadRule as problem:
        raise BadCalendar(str(problem), line) from None


def _end(
    first: dict[str, tuple[int, dict[str, str], str]], begin: datetime, own: str, zone: str
) -> tuple[datetime | None, float]:
    """When the event ends by the clock, or how many seconds it lasts. Without either: the day, or nothing."""
    if "DTEND" in first:
        end, other = _time(*first["DTEND"], zone)
        if other != own:
            end = end.replace(tzinfo=ZoneInfo(other)).astimezone(ZoneInfo(own)).replace(tzinfo=None)
        return end, 0
    if "DURATION" in first:
        return None, _seconds(*first["DURATION"])
    if "T" not in first["DTSTART"][2]:
        return begin + timedelta(days=1), 0
    raise BadCalendar("an event has neither DTEND nor DURATION", first["DTSTART"][0])


def _seconds(line: int, _more: dict[str, str], value: str) -> float:
    found = _DURATION.fullmatch(value)
    if found is None or not any(found.groups()):
        raise BadCalendar(f"{value!r} is not a DURATION; write PT4H or P1D", line)
    weeks, days, hours, minutes, seconds = (int(one or 0) for one in found.groups())
    return timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds).total_seconds()


def _times(part: Part, name: str, begin: datetime, own: str) -> tuple[datetime, ...]:
    """The times in a list, in the zone of the event; a date means the time of day at which the event
    begins.
    """
    found: list[datetime] = []
    for line, key, more, value in part:
        for one in value.split(",") if key == name else ():
            local, zone = _time(line, more, one, own)
            if zone != own:
                local = local.replace(tzinfo=ZoneInfo(zone)).astimezone(ZoneInfo(own)).replace(tzinfo=None)
            found.append(datetime.combine(local.date(), begin.time()) if "T" not in one else local)
    return tuple(found)


def _time(line: int, more: dict[str, str], value: str, zone: str) -> tuple[datetime, str]:
    """A time of a clock, and the zone of that clock."""
    try:
        found = read_time(value.strip().upper())
    except ValueError:
        raise BadCalendar(f"{value!r} is not a time; write 20261116T020000", line) from None
    if isinstance(found, datetime) and found.tzinfo is not None:
        return found.replace(tzinfo=None), "UTC"
    own = more.get("TZID", zone)
    try:
        ZoneInfo(own)
    except (KeyError, ValueError, OSError):
        raise BadCalendar(f"no time zone is called {own!r}; use a name such as Europe/Berlin", line) from None
    if isinstance(found, datetime):
        return found, own
    assert isinstance(found, date)
    return datetime.combine(found, time()), own
