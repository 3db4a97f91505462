"""One system in one run: its steps on a timeline, with boots, attempts and what it waits for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saltern.fleet.console.ask import Ask
from saltern.fleet.console.format import clock, mark, plain, span
from saltern.fleet.console.row import Data, Visit
from saltern.fleet.console.views.offers import OVER, buttons, leg_offers
from saltern.fleet.console.views.output import step_output
from saltern.fleet.console.views.runs import RUN

DARK = ("rebooting", "updating")


async def gather(visit: Visit) -> Data:
    """One leg, and what one of its steps printed."""
    data = await gather_topic(visit.ask, visit.path, visit.now)
    steps = data["leg"]["steps"]
    wanted = visit.query.get("step", "")
    chosen = next((one for one in steps if one["action"] == wanted), None) or worst(steps)
    shown = {"step": chosen, "lines": await step_output(visit, data["leg"], chosen)}
    offers = leg_offers(data["leg"], chosen["action"] if chosen else "")
    return {**data, **shown, "buttons": buttons(offers, visit), "has_topic_data": True}


async def gather_topic(ask: Ask, names: Mapping[str, str], now: float) -> Data:
    """What changes while a leg is open."""
    run, system = names["run"], names["system"]
    leg = await ask.get(f"{RUN}/legs/{{system}}", run=run, system=system)
    found = await ask.get("/v1/history", tag=f"saltern/chain/{run}/leg/{system}", limit=200)
    rows = [{"at": one["at"], **one["data"]} for one in found["items"]]
    events = sorted(rows, key=lambda one: one["at"])
    over = leg["status"] in OVER
    return {
        "leg": leg,
        "is_over": over,
        "failed_at": failed_at(leg),
        "offers": leg_offers(leg),
        "line": timeline(leg, events, now),
        "events": [{**one, "said": describe_change(one)} for one in events],
    }


def failed_at(leg: Data) -> str:
    """The step at which a leg has failed; empty if it has not."""
    if leg["status"] != "failed":
        return ""
    bad = ("failed", "timed out", "indeterminate")
    return str(next((one["action"] for one in leg["steps"] if one["status"] in bad), ""))


def describe_change(event: Data) -> str:
    """A change of a leg in words: its new status, or that its system left or came back."""
    status, before = str(event.get("status", "")), str(event.get("before", ""))
    if event.get("away"):
        return f"{status}, away"
    return "its system is back" if status == before else status


def worst(steps: list[Data]) -> Data | None:
    """The step to show first: the one that failed, else the one that runs, else the last that ran."""
    for statuses in (
        ("failed", "timed out", "indeterminate"),
        ("running", "waiting"),
        ("succeeded", "skipped"),
    ):
        found = [one for one in steps if one["status"] in statuses]
        if found:
            return found[0] if statuses[0] != "succeeded" else found[-1]
    return steps[0] if steps else None


def timeline(leg: Data, events: list[Data], now: float) -> Data:
    """Steps, boots and downtime as positions in percent. Pure."""
    begins = [one["started"] for one in leg["steps"] if one["started"]]
    ends = [one["ended"] for one in leg["steps"] if one["ended"]]
    first = min([*begins, *([leg["begun"]] if leg["begun"] else [])], default=now)
    open_ = leg["status"] not in OVER
    last = now if open_ else max([*ends, *([leg["ended"]] if leg["ended"] else [])], default=first)
    last = max(last, first + 1)

    def place(at: float) -> float:
        return round(100 * (min(max(at, first), last) - first) / (last - first), 2)

    def bar(kind: str, begin: float, end: float, title: str) -> Data:
        return {
            "kind": kind,
            "x": place(begin),
            "w": max(0.3, round(place(end) - place(begin), 2)),
            "title": title,
        }

    boots = [one for one in leg["boots"] if one["at"]]
    bands = [bar("dark", begin, end, why) for begin, end, why in dark_times(events, last)]
    rows = [
        {
            **step,
            "word": step_word(step),
            "mark": mark(step_word(step)),
            "bars": [bar(*one) for one in tries(step, last)],
        }
        for step in leg["steps"]
    ]
    ticks = [(round(100 * n / 6, 1), clock(first + (last - first) * n / 6)) for n in range(6)]
    dark = sum(end - begin for begin, end, _ in dark_times(events, last))
    return {
        "rows": rows,
        "bands": bands,
        "cuts": [place(one["at"]) for one in boots if one["planned"]] or [one["x"] for one in bands],
        "crashes": [place(one["at"]) for one in boots if not one["planned"]],
        "boots": boots,
        "ticks": ticks,
        "took": span(last - first),
        "dark": span(dark) if dark else "",
        "first": first,
        "last": last,
        "is_open": open_,
    }


def step_word(step: Data) -> str:
    """The status of a step; one that succeeded with changes is ``changed``."""
    return "changed" if step.get("changed") and step["status"] == "succeeded" else str(step["status"])


def dark_times(events: list[Data], last: float) -> list[tuple[float, float, str]]:
    """When the system was down for a reboot or an update, or away."""
    found: list[tuple[float, float, str]] = []
    since: tuple[float, str] | None = None
    for one in events:
        dark = one.get("status") in DARK or bool(one.get("away"))
        if dark and since is None:
            since = (one["at"], str(one.get("status") if one.get("status") in DARK else "away"))
        if not dark and since is not None:
            found.append((since[0], one["at"], since[1]))
            since = None
    return [*found, (since[0], last, since[1])] if since else found


def tries(step: Data, last: float) -> list[tuple[str, float, float, str]]:
    """Each attempt of a step: its mark, when it was, and in words."""
    is_open = step["status"] not in ("not run", "skipped", "waiting")  # else only ended ones
    timed = [one for one in step["tries"] if one["started"] and (one["ended"] or is_open)]
    rows: list[Any] = timed or ([step] if step["started"] and is_open else [])
    return [
        (
            plain(step_word(step) if one is rows[-1] and one["status"] == step["status"] else one["status"]),
            one["started"],
            one["ended"] or last,
            f"{one['status']}, {clock(one['started'])} to {clock(one['ended']) if one['ended'] else 'now'}",
        )
        for one in rows
    ]
