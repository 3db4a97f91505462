"""``strftime``: read a date in a common form, and format it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

_FORMATS = (
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%m/%d/%Y",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %I:%M %p",
    "%m/%d/%Y %I:%M:%S %p",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d %b %Y",
    "%d %b %Y %H:%M",
    "%d %b %Y %H:%M:%S",
    "%d %B %Y",
    "%b %d %Y",
    "%b %d, %Y",
    "%B %d %Y",
    "%B %d, %Y",
    "%b %d %Y %H:%M:%S",
    "%a, %d %b %Y %H:%M:%S",
    "%a, %d %b %Y %H:%M:%S %z",
    "%a, %d %b %Y %H:%M:%S %Z",
    "%a %b %d %H:%M:%S %Y",
    "%Y-%m-%d %I:%M %p",
)
_SECONDS = re.compile(r"(?!\d{8}$)\d+(\.\d+)?")  # eight digits are a date, as 20021225
_DAYS = {"now": 0, "today": 0, "yesterday": -1, "tomorrow": 1}
_RELATIVE = re.compile(r"([+-]?\s*\d+) (second|minute|hour|day|week)s?( ago)?")


def strftime(date: object = None, format: str = "%Y-%m-%d") -> str:
    """A date in the given format; the default is now.

    Takes seconds since 1970 (a number, or text of one, but eight digits are a date), ISO 8601, the usual
    written forms, and ``now``, ``yesterday``, ``tomorrow``, ``2 weeks ago``, ``+3 days``.
    """
    return _moment(date).strftime(format)


def _moment(date: object) -> datetime:
    from datetime import date as day
    from datetime import datetime

    if date is None:
        return datetime.now()
    if isinstance(date, datetime):
        return date
    if isinstance(date, day):
        return datetime(date.year, date.month, date.day)
    if isinstance(date, int | float):
        return datetime.fromtimestamp(date)
    text = str(date).strip()
    if _SECONDS.fullmatch(text):
        return datetime.fromtimestamp(float(text))
    return _iso(text) or _relative(text) or _parse_date(text)


def _iso(text: str) -> datetime | None:
    from datetime import datetime

    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _relative(text: str) -> datetime | None:
    from datetime import datetime, timedelta

    word = text.lower()
    if word in _DAYS:
        return datetime.now() + timedelta(days=_DAYS[word])
    found = _RELATIVE.fullmatch(word)
    if not found:
        return None
    amount = int(found[1].replace(" ", "")) * (-1 if found[3] else 1)
    return datetime.now() + timedelta(**{f"{found[2]}s": amount})


def _parse_date(text: str) -> datetime:
    from datetime import datetime

    for known in _FORMATS:
        try:
            return datetime.strptime(text, known)
        except ValueError:
            continue
    raise ValueError(f"cannot read {text!r} as a date; write it like 2002-12-25 13:14")
