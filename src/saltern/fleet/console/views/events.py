"""Events over time, filtered; and as JSON lines."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from saltern.fleet.console.format import data_line
from saltern.fleet.console.row import Data, Page, Visit

HOUR = 3600.0
SPANS = (("1", "1 hour"), ("6", "6 hours"), ("24", "1 day"), ("168", "7 days"), ("720", "30 days"))
PARTS = 96
# The words of a tag that count as failures or silence in the picture; all others count as done.
MARKS = (("alarm", "failed"), ("presence", "unknown"), ("auth", "p50"), ("key", "p50"))
ICONS = (
    ("saltern/alarm", "s-failed"),
    ("salt/presence", "s-away"),
    ("salt/job", "k-command"),
    ("saltern/job", "k-command"),
    ("salt/key", "i-lock"),
    ("salt/auth", "i-lock"),
    ("saltern/chain", "i-chain"),
    ("saltern/approval", "s-approval"),
)


async def gather(visit: Visit) -> Data:
    wanted, until = wanted_events(visit), visit.now
    tag, system, since = wanted["tag"], wanted["system"], wanted["since"]
    cursor = visit.query.get("before", "")
    page = await visit.ask.get("/v1/history", **wanted, limit=100, cursor=cursor)
    counts = await visit.ask.get(
        "/v1/history/counts", tag=tag, system=system, since=since, until=until, parts=PARTS
    )
    return {
        "events": [event_row(one) for one in page["items"]],
        "next": page["next"],
        "counts": counts,
        "bars": bars(counts["counts"]),
        "ticks": ticks(since, until),
        "asked": {"tag": "" if tag == "*" else tag, "system": system, "hours": _hours(visit)},
        "spans": SPANS,
        "first_page": not cursor,
        "sentence": sentence(counts),
    }


def wanted_events(visit: Visit) -> Data:
    """The events that the address selects."""
    tag, system = (visit.query.get(key, "").strip() for key in ("tag", "system"))
    return {"tag": tag or "*", "system": system, "since": visit.now - float(_hours(visit)) * HOUR}


def _hours(visit: Visit) -> str:
    hours = visit.query.get("hours", "24")
    return hours if hours in dict(SPANS) else "24"


def event_row(one: Data) -> Data:
    """An event as a row: an icon, its subject, a link, and its data as text."""
    icon = next((icon for prefix, icon in ICONS if one["tag"].startswith(prefix)), "i-clock")
    return {**one, "icon": icon, "link": link(one), "text": data_line(one["data"], 200)}


def link(one: Data) -> str:
    """The page that an event is about; empty if there is none."""
    data = one["data"]
    run, jid = data.get("run"), data.get("jid")
    if isinstance(run, str) and one["tag"].startswith("saltern/chain"):
        return f"/runs/{_part(run)}"
    if isinstance(jid, str) and jid:
        return f"/jobs/{_part(jid)}"
    return f"/systems/{_part(one['system'])}" if one["system"] else ""


def _part(name: str) -> str:
    return quote(name, safe="")


def kind_of(words: str) -> str:
    return next((mark for word, mark in MARKS if word in words), "p50")


def bars(counts: Mapping[str, Sequence[int]]) -> list[Data]:
    """The picture: for each interval a stack of what was done, failed or fell silent."""
    stacks: dict[int, dict[str, int]] = {}
    for words, numbers in counts.items():
        for place, number in enumerate(numbers):
            if number:
                stack = stacks.setdefault(place, {})
                stack[kind_of(words)] = stack.get(kind_of(words), 0) + number
    highest = max((sum(stack.values()) for stack in stacks.values()), default=1)
    found: list[Data] = []
    for place, stack in sorted(stacks.items()):
        top = 44.0
        for kind in ("p50", "unknown", "failed"):
            if number := stack.get(kind, 0):
                height = max(1.5, round(number / highest * 40, 2))
                top -= height
                x = round(place / PARTS * 100, 2)
                found.append({"kind": kind, "x": x, "y": round(max(0.0, top), 2), "h": height, "n": number})
    return found


def ticks(since: float, until: float) -> list[tuple[float, str]]:
    form = "%H:%M" if until - since <= 26 * HOUR else "%-d %b"
    return [
        (round(n * 12.5 + 0.2, 2), time.strftime(form, time.gmtime(since + (until - since) * n / 8)))
        for n in range(8)
    ]


def sentence(counts: Data) -> str:
    """The picture in words."""
    rows = sorted(counts["counts"].items(), key=lambda row: -sum(row[1]))[:4]
    said = ", ".join(f"{sum(numbers):,} {words}" for words, numbers in rows)
    return f"{counts['total']:,} events: {said}" if rows else "no events"


EVENT_PAGES = (
    Page(
        path="/events",
        name="Events",
        action="events.read",
        gather=gather,
        template="events.html",
        topic="list/events",
    ),
)
