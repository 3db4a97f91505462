"""Windows: ``sat,sun 02:00-06:00 Europe/Berlin``. Whether one is open now, and when the next begins."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from msgspec import Struct

from saltern.language.diagnostics import did_you_mean

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
EVERY_DAY = frozenset(range(7))
WHOLE_DAY = 24 * 60
_WINDOW = re.compile(
    r"(?:(?P<days>[a-z,-]+)\s+)?(?P<from>\d{1,2}:\d\d)-(?P<to>\d{1,2}:\d\d)(?:\s+(?P<zone>[a-z][\w/+-]*))?"
)


class BadWindow(ValueError):
    """A text that is not a window: what is wrong with it, and what to write."""

    def __init__(self, what: str, fix: str = "write it as 'sat,sun 02:00-06:00 Europe/Berlin'") -> None:
        super().__init__(what)
        self.what, self.fix = what, fix


class Window(Struct, frozen=True):
    """Minutes of the day, from ``begin`` until before ``end``, on the days on which it begins.

    One whose end is not after its beginning ends on the next day. Times are those of a clock in ``zone``.
    """

    days: frozenset[int]
    begin: int
    end: int
    zone: str
    text: str

    def __str__(self) -> str:
        return self.text if self.text.endswith(self.zone) else f"{self.text} {self.zone}"

    def is_open(self, now: float) -> bool:
        local = datetime.fromtimestamp(now, ZoneInfo(self.zone))
        minute, day = local.hour * 60 + local.minute, local.weekday()
        if self.begin < self.end:
            return day in self.days and self.begin <= minute < self.end
        yesterday = (day - 1) % 7
        return (day in self.days and minute >= self.begin) or (yesterday in self.days and minute < self.end)

    def next_begin(self, now: float) -> float:
        """When the window begins next, in seconds since 1970."""
        local = datetime.fromtimestamp(now, ZoneInfo(self.zone))
        midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
        starts = (midnight + timedelta(days=ahead, minutes=self.begin) for ahead in range(9))
        return next(s.timestamp() for s in starts if s.timestamp() > now and s.weekday() in self.days)


def read_window(text: str, zone: str = "UTC") -> Window:
    """The window that a text describes; ``zone`` applies if the text names none. Raises ``BadWindow``."""
    found = _WINDOW.fullmatch(text.strip().lower())
    if found is None:
        raise BadWindow(f"{text!r} is not a window")
    own = re.search(r"\s([A-Za-z][\w/+-]*)$", text.strip())
    name = own[1] if own and found["zone"] else zone
    check_zone(name)
    begin, end = _minute(found["from"], text), _minute(found["to"], text)
    if begin in (end, WHOLE_DAY):
        raise BadWindow(f"the window {text!r} begins when it ends", "for the whole day write 00:00-24:00")
    return Window(_days(found["days"], text), begin, end % WHOLE_DAY or WHOLE_DAY, name, text.strip())


def check_zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadWindow(f"no time zone is called {name!r}", _zone_hint(name)) from None


def _zone_hint(name: str) -> str:
    return did_you_mean(name, available_timezones()) or "use a name such as Europe/Berlin, or UTC"


def _minute(text: str, window: str) -> int:
    hour, minute = map(int, text.split(":"))
    if minute > 59 or hour * 60 + minute > WHOLE_DAY:
        raise BadWindow(f"{text!r} in the window {window!r} is not a time of day")
    return hour * 60 + minute


def _days(text: str | None, window: str) -> frozenset[int]:
    if text in (None, "daily"):
        return EVERY_DAY
    return frozenset(day for part in str(text).split(",") for day in _span(part, window))


def _span(part: str, window: str) -> list[int]:
    first, dash, last = part.partition("-")
    begin = _day(first, window)
    end = _day(last, window) if dash else begin
    return [(begin + ahead) % 7 for ahead in range((end - begin) % 7 + 1)]


def _day(name: str, window: str) -> int:
    if name not in DAYS:
        hint = did_you_mean(name, DAYS) or f"days are {', '.join(DAYS)}"
        raise BadWindow(f"{name!r} in the window {window!r} is not a day", hint)
    return DAYS.index(name)
