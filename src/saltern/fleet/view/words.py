"""Numbers, times and lists of names as readable text."""

from __future__ import annotations

import time
from collections.abc import Sequence

from saltern.report.text import columns, safe_line
from saltern.system.clock import clamp_moment

NAMED = 8  # names that a list shows at most; the rest is counted
DAY = 86_400


def count(number: int, thing: str) -> str:
    """``1 state``, ``3 states``."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def names(ids: Sequence[str], room: int = 0) -> str:
    """``web1, web2 and 39 more``: at most ``NAMED``, and at most ``room`` columns if that is given."""
    shown = [safe_line(one) for one in ids[:NAMED]]
    while len(shown) > 1 and room and columns(_join_names(shown, len(ids))) > room:
        shown.pop()
    return _join_names(shown, len(ids))


def _join_names(shown: Sequence[str], total: int) -> str:
    more = total - len(shown)
    return f"{', '.join(shown)} and {more} more" if more else ", ".join(shown)


def moment(at: float, now: float) -> str:
    """A time of today as ``18:00``, another one with its date."""
    there = time.localtime(clamp_moment(at))
    same = time.strftime("%Y-%m-%d", there) == time.strftime("%Y-%m-%d", time.localtime(clamp_moment(now)))
    return time.strftime("%H:%M" if same else "%Y-%m-%d %H:%M", there)


def span(seconds: float) -> str:
    """A duration: ``0.4 s``, ``12 s``, ``3 min 05 s``, ``2 h 10 min``, ``5 d``."""
    seconds = max(seconds, 0)
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min {rest:02d} s"
    return f"{hours} h {minutes:02d} min" if seconds < 2 * DAY else f"{int(seconds // DAY)} d"
