"""``RRULE`` of iCalendar, as far as maintenance windows need it: which days and times an event begins at.

Read here: FREQ (DAILY, WEEKLY, MONTHLY, YEARLY), INTERVAL, COUNT, UNTIL, BYDAY (also ``2TU``, ``-1SU``),
BYMONTHDAY, BYMONTH, BYSETPOS, WKST. Times are those of a clock in the event's zone: a window that begins at
02:00 does so on every day, whatever the clock does that night.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta

from msgspec import Struct

DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
FREQUENCIES = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
MOST_PERIODS = 20_000  # periods searched without a date, after which a rule counts as ended


Reader = Callable[[str], tuple[str, object]]


class BadRule(ValueError):
    """A rule that cannot be read; the text is for the user."""


class Rule(Struct, frozen=True, kw_only=True):
    """When an event repeats. ``days``: the weekday, and which one of the month (0: each)."""

    frequency: str
    interval: int = 1
    count: int | None = None
    until: datetime | date | None = None
    days: tuple[tuple[int, int], ...] = ()
    month_days: tuple[int, ...] = ()
    months: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()
    week_start: int = 0


def read_rule(text: str) -> Rule:
    """The rule in a text such as ``FREQ=WEEKLY;BYDAY=SA,SU``. Raises ``BadRule``."""
    found: dict[str, object] = {}
    for part in text.strip().rstrip(";").split(";"):
        name, sign, value = part.partition("=")
        reader = READERS.get(name.upper())
        if not sign or reader is None:
            raise BadRule(f"{part!r} in the rule {text!r} is not understood; known are {', '.join(READERS)}")
        try:
            key, read = reader(value.upper())
        except (ValueError, IndexError):
            raise BadRule(f"{part!r} in the rule {text!r} has no valid value") from None
        found[key] = read
    if "frequency" not in found:
        raise BadRule(f"the rule {text!r} has no FREQ")
    if "count" in found and "until" in found:
        raise BadRule(f"the rule {text!r} has both COUNT and UNTIL")
    rule = Rule(**found)  # type: ignore[arg-type]
    if any(which for _, which in rule.days) and rule.frequency not in ("MONTHLY", "YEARLY"):
        raise BadRule(f"the rule {text!r}: a numbered day needs FREQ=MONTHLY or YEARLY")
    return rule


def _frequency(value: str) -> tuple[str, object]:
    return "frequency", FREQUENCIES[FREQUENCIES.index(value)]


def _positive(key: str) -> Reader:
    def read(value: str) -> tuple[str, object]:
        number = int(value)
        if number < 1:
            raise ValueError(value)
        return key, number

    return read


def _numbers(key: str, low: int, high: int) -> Reader:
    def read(value: str) -> tuple[str, object]:
        found = tuple(int(one) for one in value.split(","))
        if any(not low <= abs(one) <= high or (one < 0 and key == "months") for one in found):
            raise ValueError(value)
        return key, found

    return read


def _days(value: str) -> tuple[str, object]:
    return "days", tuple((DAYS.index(one[-2:]), int(one[:-2] or 0)) for one in value.split(","))


def _until(value: str) -> tuple[str, object]:
    return "until", read_time(value)


def _week_start(value: str) -> tuple[str, object]:
    return "week_start", DAYS.index(value)


READERS: dict[str, Reader] = {
    "FREQ": _frequency,
    "INTERVAL": _positive("interval"),
    "COUNT": _positive("count"),
    "UNTIL": _until,
    "BYDAY": _days,
    "BYMONTHDAY": _numbers("month_days", 1, 31),
    "BYMONTH": _numbers("months", 1, 12),
    "BYSETPOS": _numbers("positions", 1, 366),
    "WKST": _week_start,
}


def read_time(text: str) -> datetime | date:
    """``20261116T020000``, with a Z for UTC, or a date. Raises ``ValueError``."""
    if len(text) == 8:
        return datetime.strptime(text, "%Y%m%d").date()
    found = datetime.strptime(text.removesuffix("Z"), "%Y%m%dT%H%M%S")
    return found.replace(tzinfo=UTC) if text.endswith("Z") else found


def starts(rule: Rule, first: datetime, since: date | None = None) -> Iterator[datetime]:
    """The times at which an event begins, starting with ``first``, in order, as clock times without a zone.

    ``since``: times before this day may be left out. Earlier periods are then skipped, unless the rule
    counts them.
    """
    given = 0
    empty = 0
    for days in _periods(rule, first.date(), since if rule.count is None else None):
        found = [datetime.combine(day, first.time()) for day in _chosen_days(rule, days, first.date())]
        empty = 0 if found else empty + 1
        if empty > MOST_PERIODS:
            return
        for start in found:
            if start < first:
                continue
            if _is_past(rule, start) or (rule.count is not None and given >= rule.count):
                return
            given += 1
            yield start


def _is_past(rule: Rule, start: datetime) -> bool:
    """True if it is after UNTIL. UNTIL in UTC is compared without conversion: it differs by a few hours at
    most.
    """
    if rule.until is None:
        return False
    if isinstance(rule.until, datetime):
        return start > rule.until.replace(tzinfo=None)
    return start.date() > rule.until


def _periods(rule: Rule, first: date, since: date | None) -> Iterator[list[date]]:
    """The days of each period in turn: a day, a week, a month or a year; starting with that of ``since``."""
    try:
        yield from PERIODS[rule.frequency](rule, first, since or first)
    except OverflowError:
        return  # Python's calendar ends here


def _periods_to_skip(ahead: int, interval: int) -> int:
    """How many periods to skip in whole intervals without passing the number ahead."""
    return max(0, ahead // interval) * interval


def _each_day(rule: Rule, first: date, since: date) -> Iterator[list[date]]:
    day = first + timedelta(days=_periods_to_skip((since - first).days, rule.interval))
    while True:
        yield [day]
        day += timedelta(days=rule.interval)


def _each_week(rule: Rule, first: date, since: date) -> Iterator[list[date]]:
    begin = first - timedelta(days=(first.weekday() - rule.week_start) % 7)
    begin += timedelta(weeks=_periods_to_skip((since - begin).days // 7, rule.interval))
    while True:
        yield [begin + timedelta(days=ahead) for ahead in range(7)]
        begin += timedelta(weeks=rule.interval)


def _each_month(rule: Rule, first: date, since: date) -> Iterator[list[date]]:
    month = first.year * 12 + first.month - 1
    month += _periods_to_skip(since.year * 12 + since.month - 1 - month, rule.interval)
    while True:
        yield _month(month // 12, month % 12 + 1)
        month += rule.interval


def _each_year(rule: Rule, first: date, since: date) -> Iterator[list[date]]:
    year = first.year + _periods_to_skip(since.year - first.year, rule.interval)
    while True:
        months = rule.months or (range(1, 13) if rule.days or rule.month_days else (first.month,))
        yield [day for month in sorted(months) for day in _month(year, month)]
        year += rule.interval


def _month(year: int, month: int) -> list[date]:
    if year > 9999:
        raise OverflowError(year)
    return [date(year, month, day) for day in range(1, calendar.monthrange(year, month)[1] + 1)]


PERIODS = {"DAILY": _each_day, "WEEKLY": _each_week, "MONTHLY": _each_month, "YEARLY": _each_year}


def _chosen_days(rule: Rule, days: list[date], first: date) -> list[date]:
    """The days of a period that the rule selects."""
    found = [day for day in days if not rule.months or day.month in rule.months]
    if rule.month_days:
        found = [day for day in found if _is_month_day(day, rule.month_days)]
    if rule.days:
        found = [day for day in found if _is_named(rule, day, days)]
    elif not rule.month_days:
        found = [day for day in found if _is_like(rule, day, first)]
    if not rule.positions:
        return found
    places = {(place - 1 if place > 0 else len(found) + place) for place in rule.positions}
    return [day for place, day in enumerate(found) if place in places]


def _is_month_day(day: date, wanted: tuple[int, ...]) -> bool:
    last = calendar.monthrange(day.year, day.month)[1]
    return day.day in wanted or day.day - last - 1 in wanted


def _is_named(rule: Rule, day: date, days: list[date]) -> bool:
    """True if BYDAY names this day; a numbered one is counted in its month or year."""
    by_month = rule.frequency == "MONTHLY" or bool(rule.months)
    among = [
        one for one in days if one.weekday() == day.weekday() and (not by_month or one.month == day.month)
    ]
    place = among.index(day)
    numbers = (0, place + 1, place - len(among))
    return any(weekday == day.weekday() and which in numbers for weekday, which in rule.days)


def _is_like(rule: Rule, day: date, first: date) -> bool:
    """True if it corresponds to the first day, for a rule that names no days."""
    return {
        "DAILY": True,
        "WEEKLY": day.weekday() == first.weekday(),
        "MONTHLY": day.day == first.day,
        "YEARLY": day.day == first.day and (bool(rule.months) or day.month == first.month),
    }[rule.frequency]
