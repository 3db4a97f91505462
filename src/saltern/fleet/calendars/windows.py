"""Maintenance windows: calendars that allow and that deny; whether work may begin now, why not, and when.

Pure: the time is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct, field

from saltern.fleet.calendars.ical import Event, Interval

DAY = 86_400.0
HORIZON = 800 * DAY  # how far ahead to look for the next window
PART = 32 * DAY
Kind = Literal["allow", "deny"]


class Calendar(Struct, frozen=True, kw_only=True):
    """Events in which work is allowed, or denied."""

    name: str
    kind: Kind
    events: tuple[Event, ...]

    def intervals(self, begin: float, end: float) -> list[Interval]:
        return merge_intervals(one for event in self.events for one in event.intervals(begin, end))


class Asked(Calendar, frozen=True, kw_only=True, eq=False):
    """A calendar that caches its answers, for repeated questions within one decision."""

    said: dict[Interval, list[Interval]] = field(default_factory=dict)

    def intervals(self, begin: float, end: float) -> list[Interval]:
        if (begin, end) not in self.said:
            self.said[begin, end] = Calendar.intervals(self, begin, end)
        return self.said[begin, end]


def prepare_calendar(calendar: Calendar) -> Asked:
    """The same calendar, for several groups of systems at one moment."""
    return Asked(name=calendar.name, kind=calendar.kind, events=calendar.events)


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether work may begin. ``until``: when the open window ends; None: it has no end. ``next``: when work
    may begin, if not now; None: never, as far as calendars are known."""

    open: bool
    until: float | None = None
    why: str = ""
    next: float | None = None


def may_begin(calendars: Sequence[Calendar], now: float, *, needs: float = 0) -> Verdict:
    """Whether work that takes ``needs`` seconds may begin now. A denial overrides what allows it; if no
    calendar allows anything, all that is not denied is allowed."""
    denied = next((one for one in calendars if one.kind == "deny" and _at(one, now) is not None), None)
    upcoming = next_windows(calendars, now, 1, needs=needs)
    following = upcoming[0][0] if upcoming else None
    if denied is not None:
        return Verdict(
            open=False, why=f"{denied.name} denies it until {_end_of(denied, now)}", next=following
        )
    window = window_at(calendars, now)
    if window is None:
        names = ", ".join(one.name for one in calendars if one.kind == "allow")
        return Verdict(open=False, why=f"no window of {names} is open", next=following)
    if window[1] is not None and now + needs > window[1]:
        left = window[1] - now
        why = f"it needs {needs:g} seconds, and the window ends in {left:g}"
        return Verdict(open=False, why=why, until=window[1], next=following)
    return Verdict(open=True, until=window[1])


def window_at(calendars: Sequence[Calendar], now: float) -> tuple[float, float | None] | None:
    """The window that is open now, None if none is; one without an end has None for it."""
    if not calendars:
        return now, None
    found = next(iter(_windows(calendars, now, now + PART)), None)
    if found is None or found[0] > now:
        return None
    end = found[1]
    return found[0], (None if end >= now + PART and not _ends(calendars, end) else end)


def next_windows(
    calendars: Sequence[Calendar], now: float, count: int, *, needs: float = 0
) -> list[Interval]:
    """The windows that are open now or later, at most ``count``, without those shorter than ``needs``."""
    found: list[Interval] = []
    begin = now
    while begin < now + HORIZON and len(found) <= count:
        found = merge_intervals([*found, *_windows(calendars, begin, begin + PART)])
        begin += PART
    long = [(max(start, now), end) for start, end in found if end - max(start, now) >= max(needs, 1e-6)]
    return long[:count]


def _ends(calendars: Sequence[Calendar], end: float) -> bool:
    return bool(next_denial(calendars, end)) or any(one.kind == "allow" for one in calendars)


def next_denial(calendars: Sequence[Calendar], now: float) -> list[Interval]:
    """The next denied time from now on, within the time looked ahead."""
    return merge_intervals(
        one
        for calendar in calendars
        if calendar.kind == "deny"
        for one in calendar.intervals(now, now + HORIZON)
    )


def _windows(calendars: Sequence[Calendar], begin: float, end: float) -> list[Interval]:
    """The times that are allowed and not denied, in order."""
    allow = [one for one in calendars if one.kind == "allow"]
    open_ = (
        merge_intervals(i for one in allow for i in one.intervals(begin, end)) if allow else [(begin, end)]
    )
    for denied in merge_intervals(
        i for one in calendars if one.kind == "deny" for i in one.intervals(begin, end)
    ):
        open_ = [part for interval in open_ for part in _without(interval, denied)]
    return open_


def _without(interval: Interval, denied: Interval) -> Iterator[Interval]:
    for begin, end in (
        (interval[0], min(interval[1], denied[0])),
        (max(interval[0], denied[1]), interval[1]),
    ):
        if begin < end:
            yield begin, end


def merge_intervals(intervals: object) -> list[Interval]:
    """The intervals in order, with touching ones merged."""
    found: list[Interval] = []
    for begin, end in sorted(intervals):  # type: ignore[call-overload]
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def _at(calendar: Calendar, now: float) -> Interval | None:
    return next((one for one in calendar.intervals(now, now + 1) if one[0] <= now < one[1]), None)


def _end_of(calendar: Calendar, now: float) -> str:
    from saltern.system.clock import stamp

    found = _at(calendar, now)
    return f"{stamp(found[1])} UTC" if found else "then"
