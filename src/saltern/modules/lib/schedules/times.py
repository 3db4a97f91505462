"""Check the times in a schedule; they are stored as written."""

from __future__ import annotations

import re

from saltern.modules.api.refused import Refused

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
CLOCK = re.compile(r"\b(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?(?:\.\d+)?\s*(am|pm)?\b", re.IGNORECASE)
WEEKDAY = re.compile(rf"\b(?:{'|'.join(DAYS)})[a-z]*\b", re.IGNORECASE)
NAMED_MONTH = re.compile(
    rf"\b(?:(\d{{1,2}})\s+)?({'|'.join(MONTHS)})[a-z]*\.?(?:\s+(\d{{1,2}})\b(?!:))?(?:,?\s*(\d{{4}})\b)?",
    re.IGNORECASE,
)
DATES = (
    re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?:[tT](?=\d)|(?=\D|$))"),
    re.compile(r"\b(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})\b"),
)
BETWEEN = re.compile(r"[\s,]*(?:at)?\s*")
LEAP_YEAR = 2024  # without a year, any day of a leap year is accepted

CRON_FIELDS = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, MONTHS),
    ("day of the week", 0, 7, DAYS),
)
CRON_WORDS = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
CRON_PART = re.compile(r"(?P<first>\*|\w+)(?:-(?P<last>\w+))?(?:/(?P<step>\d+))?")


def moment(text: str, what: str) -> str:
    """``5:00pm``, ``Monday 17:00``, ``2027-01-31 08:00``, ``Jan 31, 2027 8am``; others are ``Refused``."""
    rest, dated = _without_date(text.strip(), text, what)
    rest, days = WEEKDAY.subn("", rest, count=1)
    clock = CLOCK.search(rest)
    if clock and (clock[2] or clock[4]):
        _check_clock(clock, text, what)
        rest = rest[: clock.start()] + rest[clock.end() :]
    if BETWEEN.fullmatch(rest) and (dated or days or clock):
        return text
    raise Refused(f"{what} cannot be {text!r}; use a time such as 'Monday 5:00pm' or '2027-01-31 17:00'")


def _without_date(rest: str, text: str, what: str) -> tuple[str, bool]:
    for pattern in DATES:
        if found := pattern.search(rest):
            _check_date(int(found["year"]), int(found["month"]), int(found["day"]), text, what)
            return rest[: found.start()] + " " + rest[found.end() :], True
    if found := NAMED_MONTH.search(rest):
        month = MONTHS.index(found[2].lower()) + 1
        _check_date(int(found[4] or LEAP_YEAR), month, int(found[1] or found[3] or 1), text, what)
        return rest[: found.start()] + " " + rest[found.end() :], True
    return rest, False


def _check_date(year: int, month: int, day: int, text: str, what: str) -> None:
    from datetime import date

    try:
        date(year, month, day)
    except ValueError:
        raise Refused(f"{what}: there is no such day: {text!r}") from None


def _check_clock(found: re.Match[str], text: str, what: str) -> None:
    hour, minute, second = (int(found[part] or 0) for part in (1, 2, 3))
    latest = 12 if found[4] else 23
    if hour > latest or minute > 59 or second > 59:
        raise Refused(f"{what}: there is no such time of day: {text!r}")


def by_format(text: str, form: str, what: str) -> str:
    """A time in one format of ``strptime``."""
    from datetime import datetime

    try:
        datetime.strptime(text, form)
    except ValueError:
        raise Refused(f"{what} cannot be {text!r}; use a time in the format {form}") from None
    return text


def cron(text: str) -> str:
    """Five crontab fields, or a word such as ``@daily``."""
    if text in CRON_WORDS:
        return text
    fields = text.split()
    if len(fields) != len(CRON_FIELDS):
        raise Refused(
            f"cron cannot be {text!r}; it needs five fields: minute, hour, day, month, day of the week"
        )
    for field, (what, low, high, names) in zip(fields, CRON_FIELDS, strict=True):
        for part in field.split(","):
            _check_part(part, low, high, names, f"cron: {field!r} cannot be the {what}")
    return text


def _check_part(part: str, low: int, high: int, names: tuple[str, ...], problem: str) -> None:
    found = CRON_PART.fullmatch(part)
    if found is None or (found["first"] == "*" and found["last"]) or found["step"] == "0":
        raise Refused(problem)
    if found["first"] == "*":
        return
    first = _number(found["first"], low, names)
    last = _number(found["last"], low, names) if found["last"] else first
    if not low <= first <= last <= high:
        raise Refused(f"{problem}; use {low} to {high}")


def _number(word: str, low: int, names: tuple[str, ...]) -> int:
    """The number of a word; -1 if it is not one."""
    if word.isdigit():
        return int(word)
    return names.index(word.lower()[:3]) + low if word.lower()[:3] in names else -1
