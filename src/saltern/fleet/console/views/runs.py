"""Runs: the list, one run as waves, causes and a matrix, and what a step printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from saltern.fleet.console.ask import Ask
from saltern.fleet.console.format import moment, span
from saltern.fleet.console.list_marks import mark_of, run_marks
from saltern.fleet.console.marks import cells
from saltern.fleet.console.row import Data, Visit
from saltern.fleet.console.views.causes import with_changes
from saltern.fleet.console.views.offers import BAD, ENDS, buttons, run_offers

RUN = "/v1/chain-runs/{run}"
FEW = 50  # systems that have a row each in the matrix
PAGE = 50
SHOWN_CAUSES = 5
MOST_CAUSES = 200  # that are counted for a list
TREES = 5  # versions of the files that are looked at
WIDE = 24  # number of columns from which they are narrow
WORKING = ("running", "rebooting", "updating", "waiting")
NEEDS = ("failed", "expired", "indeterminate", "paused")


async def gather_list(visit: Visit) -> Data:
    """All runs, a page at a time: those that are open first."""
    query = visit.query
    only: Data = {"chain": query.get("chain", ""), "open": query.get("open") == "yes"}
    page = await visit.ask.get("/v1/chain-runs", limit=PAGE, cursor=query.get("cursor", ""), **only)
    first = not query.get("cursor")
    opened = (
        (await visit.ask.get("/v1/chain-runs", limit=PAGE, open=True, chain=only["chain"]))["items"]
        if first
        else []
    )
    ids = {one["run"] for one in opened}
    rows = [*opened, *(one for one in page["items"] if one["run"] not in ids and (first or one["ended"]))]
    found = {
        "rows": [list_row(one, visit.now) for one in rows],
        "next": page["next"],
        "only": only,
        "causes": await _cause_numbers(visit.ask) if any(_has_bad(one["legs"]) for one in rows) else {},
    }
    if first and not any(only.values()):  # the part that watches the list is already on the page
        found |= {"mark": mark_of(run_marks(page["items"])), "has_topic_data": True}
    return found


async def _cause_numbers(ask: Ask) -> Mapping[str, int]:
    """How many causes the runs of the last day have."""
    found = await ask.get("/v1/causes", most=MOST_CAUSES)
    return Counter(one["run"] for one in found["items"])


def list_row(run: Data, now: float) -> Data:
    """A run as a row of a list."""
    legs: dict[str, int] = run["legs"]
    total = sum(legs.values())
    done = sum(legs.get(one, 0) for one in ("succeeded", "succeeded with skips"))
    return {
        **run,
        "total": total,
        "done": done,
        "need": sum(legs.get(one, 0) for one in NEEDS) if run["status"] not in ENDS else 0,
        "took": span((run["ended"] or now) - run["created"]),
        "at_work": count_working(legs),
    }


def count_working(legs: Mapping[str, int]) -> int:
    """The systems that have their plan, and go through it also without the controller."""
    return sum(legs.get(one, 0) for one in WORKING)


async def gather_topic(ask: Ask, names: Mapping[str, str], now: float) -> Data:
    """What changes while a run is open: its head, waves, causes, matrix and moments."""
    run = names["run"]
    moments = (await ask.get(f"{RUN}/moments", run=run))["items"]
    return {**await gather_shapes(ask, run, now), "moments": moments}


async def gather_shapes(ask: Ask, run: str, now: float) -> Data:
    """The same without the moments."""
    shapes = await ask.get(f"{RUN}/shapes", run=run)
    causes = await _causes(ask, run) if _has_bad(shapes["legs"]) else NONE
    each = None
    if shapes["systems"] <= FEW:
        each = (await ask.get(f"{RUN}/rows", run=run, limit=FEW))["items"]
    return run_data(shapes, causes, now, each=each)


NONE: Data = {"items": [], "more": 0, "more_systems": 0}


async def _causes(ask: Ask, run: str) -> Data:
    found: Data = await ask.get(f"{RUN}/causes", run=run, most=SHOWN_CAUSES)
    if not found["items"]:
        return found
    return with_changes(found, (await ask.get("/v1/trees", limit=TREES))["items"])


def _has_bad(legs: Mapping[str, int]) -> bool:
    return any(legs.get(one) for one in (*BAD, "paused", "running", "waiting"))


def run_data(shapes: Data, causes: Data, now: float, *, each: list[Data] | None = None) -> Data:
    """The data of a run for the templates."""
    legs: dict[str, int] = shapes["legs"]
    rows = each if each is not None else shapes["rows"]
    waves = [
        {
            **wave,
            "done": sum(wave["legs"].get(one, 0) for one in ("succeeded", "succeeded with skips")),
            "rows": [row_data(row, now, shapes["actions"]) for row in rows if row["wave"] == wave["wave"]],
        }
        for wave in shapes["waves"]
    ]
    bad = sum(legs.get(one, 0) for one in ("failed", "expired", "indeterminate"))
    current = next((one["wave"] for one in waves if one["status"] in ("running", "soaking")), len(waves))
    return {
        "run": shapes,
        "waves": waves,
        "current": current,
        "causes": causes,
        "bad": bad,
        "begun": sum(number for status, number in legs.items() if status not in ("pending", "queued")),
        "is_over": shapes["status"] in ENDS,
        "is_waiting": shapes["status"] == "running" and bool(shapes["why"]),
        "is_each": each is not None,
        "shown_rows": len(rows),
        "narrow": len(shapes["actions"]) > WIDE,
        "segments": segments(shapes["actions"]),
        "offers": run_offers(shapes),
        "at_work": count_working(legs),
    }


def segments(actions: list[Data]) -> list[Data]:
    """Groups of columns: those between two reboots, and those at the end of the chain."""
    found: list[Data] = []
    for action in actions:
        if not found or found[-1]["segment"] != action["segment"]:
            found.append({"segment": action["segment"], "final": action["final"], "span": 0})
        found[-1]["span"] += 1
    for one in found:
        whole = "finally" if one["final"] else f"segment {one['segment']}"
        brief = "end" if one["final"] else str(one["segment"])
        one["name"] = whole if one["span"] > 1 else brief
    return found


def row_data(row: Data, now: float, actions: list[Data]) -> Data:
    """A row of the matrix: what its systems are doing, in words."""
    at = next(
        (n for n, cell in enumerate(row["cells"]) if cell in ("failed", "timed out", "indeterminate")), None
    )
    running = next((n for n, cell in enumerate(row["cells"]) if cell in ("running", "waiting")), None)
    status = "unreachable" if row["away"] else row["status"]
    text = status
    if status in ("failed", "indeterminate") and at is not None:
        text = f"{row['cells'][at]} at {actions[at]['id']}"
    elif status == "running" and running is not None:
        text = f"running {actions[running]['id']}"
    when = row["ended"] or row["begun"]
    drawn = cells(row["cells"], cuts(actions))
    return {**row, "shown": status, "text": text, "cells": drawn, "when": moment(when, now), "bad_at": at}


def cuts(actions: list[Data]) -> list[bool]:
    """The columns with a line before them, where a new segment begins; not those at the end of the chain."""
    return [
        n > 0 and actions[n - 1]["segment"] != one["segment"] and not one["final"]
        for n, one in enumerate(actions)
    ]


async def gather_run(visit: Visit) -> Data:
    """One run: live, as it was at a moment, or each system of it."""
    run, query = visit.path["run"], visit.query
    moments = (await visit.ask.get(f"{RUN}/moments", run=run))["items"]
    at = moment_of(query.get("at", ""))
    wanted = query.get("status", "")
    page: Data = {
        "moments": moments,
        "at": at,
        "wanted": wanted,
        "each": query.get("rows") == "each",
        "next": None,
    }
    if at is not None:
        shapes = await visit.ask.get(f"{RUN}/shapes", run=run, at=at)
        data = run_data(shapes, NONE, visit.now)
        page |= {"buttons": buttons(data["offers"], visit, at)}
        return {**data, **page, **slider(moments, at, visit.now)}
    if page["each"] or wanted:
        shapes = await visit.ask.get(f"{RUN}/shapes", run=run, most=1)
        rows = await visit.ask.get(
            f"{RUN}/rows", run=run, limit=100 if len(shapes["actions"]) <= WIDE else PAGE,
            status=wanted, cursor=query.get("cursor", ""),
        )  # fmt: skip
        causes = await _causes(visit.ask, run)
        data = run_data(shapes, causes, visit.now, each=rows["items"])
        page |= {"buttons": buttons(data["offers"], visit)}
        return {**data, **page, "next": rows["next"], "filtered": True, **slider(moments, None, visit.now)}
    data = await gather_shapes(visit.ask, run, visit.now)
    page |= {"buttons": buttons(data["offers"], visit)}
    return {**data, **page, "has_topic_data": True, **slider(moments, None, visit.now)}


def moment_of(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < 4e9 else None


def slider(moments: list[Data], at: float | None, now: float) -> Data:
    """The time slider: from the first moment to now, or to the end."""
    first = moments[0]["at"] if moments else now
    last = max(moments[-1]["at"] if moments else now, first + 1)
    last = last if not moments or _ended(moments) else max(now, first + 1)
    ticks = [round(100 * (one["at"] - first) / (last - first), 2) for one in moments]
    past = [one["what"] for one in moments if at is not None and abs(one["at"] - at) < 1.5]
    return {
        "slide": {"first": first, "last": last, "ticks": ticks, "note": past[-1] if past else "as it was"}
    }


def _ended(moments: list[Data]) -> bool:
    return any(one["kind"] == "status" and one["what"].split(":")[0] in ENDS for one in moments)
