"""Formats times, ages, numbers, marks of statuses and untrusted text for pages. Pure."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from saltern.report.text import safe

DAY = 86_400.0
NEAR = 180 * DAY  # within which a time of day and a day are clear without the year
TIMES = frozenset({"expires", "at", "until", "since", "next_at", "deadline"})  # keys of data that hold times
MOST_CHANGED = 200  # lines of one change
# A status of the engine → the mark of the pages: its shape and its colour. The text stays the engine's word.
MARKS: dict[str, str] = {
    "": "none",
    "succeeded": "ok",
    "succeeded with skips": "ok",
    "returned": "ok",
    "approved": "ok",
    "over": "ok",
    "accepted": "ok",
    "connected": "ok",
    "changed": "changed",
    "failed": "failed",
    "expired": "timeout",
    "timed out": "timeout",
    "indeterminate": "unknown",
    "rejected": "failed",
    "revoked": "failed",
    "refused": "failed",
    "halted": "halted",
    "partial": "partial",
    "running": "running",
    "delivered": "running",
    "cancelling": "running",
    "soaking": "waiting",
    "waiting": "waiting",
    "queued": "queued",
    "pending": "none",
    "scheduled": "queued",
    "draft": "none",
    "not run": "none",
    "rebooting": "reboot",
    "updating": "update",
    "paused": "paused",
    "unreachable": "away",
    "away": "away",
    "skipped": "skipped",
    "cancelled": "cancelled",
    "awaiting approval": "approval",
    "open": "approval",
}
# Statuses that need a person, the worst first; then those in progress; then the good ones.
ORDER = (
    "failed", "timeout", "unknown", "halted", "partial", "approval", "away", "paused", "waiting", "queued",
    "update", "reboot", "running", "none", "cancelled", "skipped", "changed", "ok",
)  # fmt: skip
_RANKS = {mark: number for number, mark in enumerate(ORDER)}
STRIP = ("ok", "changed", "running", "reboot", "away", "unknown", "failed", "timeout", "waiting", "none")
# A strip and a timeline have fewer colours than there are marks.
PLAIN = {
    "skipped": "ok", "update": "reboot", "partial": "failed", "halted": "failed", "paused": "waiting",
    "queued": "waiting", "approval": "waiting", "cancelled": "none",
}  # fmt: skip


# A kind of action → its icon; kinds without one use that of a command.
KIND_ICONS = {
    "packages": "packages", "patch": "patch", "upgrade": "patch", "state": "state", "highstate": "state",
    "file": "file", "wait": "wait", "health": "health", "request": "health", "reboot": "reboot",
    "agent": "agent",
}  # fmt: skip


def kind_icon(kind: str) -> str:
    """The icon of a kind of action."""
    return f"k-{KIND_ICONS.get(kind, 'command')}"


def mark(status: str) -> str:
    """The mark of a status; an unknown status has its own mark."""
    return MARKS.get(status, "unknown")


def rank(status: str) -> int:
    """The sort key of a status, the worst first."""
    return _RANKS[mark(status)]


def plain(status: str) -> str:
    """The mark of a status, as one of those that a strip has."""
    return PLAIN.get(mark(status), mark(status))


def parts(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Statuses with their numbers, as the parts of a strip."""
    found: dict[str, int] = {}
    for status, number in counts.items():
        kind = plain(status)
        found[kind] = found.get(kind, 0) + number
    return [(one, found[one]) for one in STRIP if found.get(one)]


def words(counts: Mapping[str, int]) -> str:
    """``3 succeeded, 1 failed``."""
    rows = sorted((one for one in counts.items() if one[1]), key=lambda one: rank(one[0]))
    return ", ".join(f"{number:,} {status or 'not run'}" for status, number in rows)


def moment(at: float | None, now: float) -> str:
    """A time in UTC: the time only for today, with its day for some months around it, else day and year."""
    if not at:
        return "–"
    day = time.gmtime(at)
    today = time.gmtime(now)
    if day[:3] == today[:3]:
        return time.strftime("%H:%M", day)
    month = f"{day.tm_mday} {time.strftime('%b', day)}"
    return f"{month} {time.strftime('%H:%M', day)}" if abs(at - now) < NEAR else f"{month} {day[0]}"


def exact(at: float | None) -> str:
    """A time to the second, for titles and timelines."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at)) if at else "–"


def hour(at: float) -> str:
    """A time of day on a line of hours; midnight has its day."""
    day = time.gmtime(at)
    return f"{day.tm_mday} {time.strftime('%b', day)}" if day.tm_hour == 0 else time.strftime("%H:%M", day)


def after(text: str, word: str) -> str:
    """The text without the word that it begins with."""
    return text.removeprefix(word)


def clock(at: float | None) -> str:
    return time.strftime("%H:%M:%S", time.gmtime(at)) if at else "–"


def span(seconds: float | None) -> str:
    """``12 s``, ``4 min 20 s``, ``3 h 5 min``, ``12 d``; for next to nothing, ``< 0.1 s``."""
    if seconds is None:
        return "–"
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s" if whole or not seconds else f"{seconds:.1f} s" if seconds >= 0.05 else "< 0.1 s"
    if whole < 3600:
        return _two(whole // 60, "min", whole % 60 if whole < 600 else 0, "s")
    if whole < DAY:
        return _two(whole // 3600, "h", whole % 3600 // 60, "min")
    return f"{whole // int(DAY):,} d"


def _two(first: int, unit: str, second: int, smaller: str) -> str:
    return f"{first} {unit} {second} {smaller}" if second else f"{first} {unit}"


def ago(at: float | None, now: float) -> str:
    return span(now - at) if at else "never"


def number(value: float) -> str:
    return f"{value:,}"


def count(value: int, noun: str) -> str:
    """``1 system``, ``2 systems``."""
    return f"{value:,} {noun}" if value == 1 else f"{value:,} {noun}s"


def short(digest: str) -> str:
    """``7c1e…a94``: enough of a digest to compare."""
    return f"{digest[:4]}…{digest[-3:]}" if len(digest) > 12 else digest


def lines(text: str) -> list[str]:
    """Output of a program as lines of text, with control characters made visible."""
    return safe(text).split("\n")


def changed_lines(changes: object) -> list[str]:
    """A change line by line, cut: a diff unchanged, the values before and after, or the value as YAML."""
    if isinstance(changes, Mapping) and isinstance(changes.get("diff"), str):
        return cut_lines(lines(str(changes["diff"]).rstrip("\n")), MOST_CHANGED)
    if isinstance(changes, Mapping) and changes and all(_is_pair(one) for one in changes.values()):
        pairs = changes.items()
        return cut_lines(
            [safe(f"~ {name}  {_side(one, 'old')} → {_side(one, 'new')}") for name, one in pairs],
            MOST_CHANGED,
        )
    from saltern.report.yaml import dump

    return cut_lines(lines(changes if isinstance(changes, str) else dump(changes).rstrip("\n")), MOST_CHANGED)


def cut_lines(found: list[str], most: int) -> list[str]:
    """The first lines, and how many more there are."""
    rest = len(found) - most
    return [*found[:most], f"… {rest:,} more lines"] if rest > 0 else found


def diff_mark(line: str) -> str:
    """How a line of a diff is shown: added, removed, a heading, or unchanged."""
    if line.startswith(("@@", "--- ", "+++ ")):
        return "h"
    return {"+": "a", "-": "r"}.get(line[:1], "")


def _is_pair(value: object) -> bool:
    return isinstance(value, Mapping) and set(value) == {"old", "new"}


def _side(value: Mapping[str, object], side: str) -> str:
    return str(value[side]) or "nothing"


def data_line(data: Mapping[str, object], most: int) -> str:
    """The data of an event or a row of the audit in one line, cut."""
    words = [
        f"{key}: {_value_text(key, value)}" for key, value in data.items() if value not in ("", None, [], {})
    ]
    line = ", ".join(words)
    return line if len(line) <= most else f"{line[:most]}…"


def _value_text(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{one} {name}" for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return f"{len(value):,} of them" if len(value) > 6 else " ".join(map(str, value))
    if key in TIMES and isinstance(value, (int, float)):
        return exact(value)
    return str(value)


def join_names(items: Iterable[str], most: int = 5) -> str:
    """Some of many names."""
    names = list(items)
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")
