"""The overview: what is broken, since when, what changed before that, and what waits for whom."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.fleet.api.problems import ApiError
from saltern.fleet.console.ask import Ask
from saltern.fleet.console.format import count, moment
from saltern.fleet.console.row import Data, Visit
from saltern.fleet.console.views.causes import over_runs, with_changes
from saltern.fleet.console.views.runs import list_row

DAY = 86_400.0
HOURS = 12
SHOWN = 8
MOST_CAUSES = 500  # that are looked at
TREES = 5  # versions of the files that are looked at


async def gather(visit: Visit) -> Data:
    return await gather_topic(visit.ask, {}, visit.now) | {"has_topic_data": True}


async def gather_topic(ask: Ask, _names: Mapping[str, str], now: float) -> Data:
    """All of it: jobs, systems, approvals, trees and windows have the same readers."""
    trees = (await ask.get("/v1/trees", limit=TREES))["items"]
    found = await ask.get("/v1/causes", most=MOST_CAUSES, names=True)
    causes = with_changes(over_runs(found["items"], SHOWN), trees)
    glance = await ask.get("/v1/glance", facts="false")
    runs = (await ask.get("/v1/chain-runs", limit=10, open=True))["items"]
    recent = (await ask.get("/v1/chain-runs", limit=10))["items"]
    inbox = await _inbox(ask)
    return {
        "causes": causes,
        "glance": glance,
        "runs": [list_row(one, now) for one in runs],
        "last": last_failure(recent),
        "inbox": inbox,
        "changes": await _changes(ask, now, recent, trees),
        "sheet": await _windows(ask, now),
        "headline": headline(causes, now, glance["silent"]),
    }


def headline(causes: Data, now: float, silent: int = 0) -> str:
    """The first sentence: how many systems, for how many reasons, since when. Pure."""
    items = causes["items"]
    systems, runs = causes["systems"], causes["runs"]
    if not systems:
        return (
            f"{count(silent, 'system')} silent, and no reboot is planned" if silent else "Nothing is broken"
        )
    reasons = len(items) + causes["more"]
    since = min((one["since"] for one in items if one["since"]), default=None)
    where = "one run" if runs == 1 else f"{runs} runs"
    why = "one reason" if reasons == 1 else f"{reasons} reasons"
    began = f" It began at {moment(since, now)}." if since else ""
    need = "needs" if systems == 1 else "need"
    return f"{count(systems, 'system')} failed or {need} a decision, for {why}, in {where}.{began}"


def last_failure(runs: list[Data]) -> Data | None:
    return next((one for one in runs if one["status"] in ("failed", "partial", "halted")), None)


async def _inbox(ask: Ask) -> Data:
    try:
        found: Data = await ask.get("/v1/inbox")
    except ApiError:
        return {"items": [], "yours": 0, "keys": 0}
    return found


async def _changes(ask: Ask, now: float, runs: list[Data], trees: list[Data]) -> list[Data]:
    """What changed in 24 hours, the newest first: runs that began, trees, keys, alarms."""
    found = [
        {"icon": "i-chain", "what": one["chain"], "more": f"version {one['version']}, by {one['author']}",
         "at": one["created"], "link": f"/runs/{one['run']}"}
        for one in runs
        if now - one["created"] < DAY
    ]  # fmt: skip
    for tag, icon in (("salt/key", "i-key"), ("saltern/alarm", "s-failed")):
        page = await ask.get("/v1/history", tag=tag, since=now - DAY, limit=5)
        found += [_event(one, icon) for one in page["items"]]
    found += [
        {"icon": "i-tree", "what": f"State tree {one['digest'][:7]}",
         "more": f"{one['environment']}, by {one['by']}; {one['files']} files", "at": one["at"], "link": ""}
        for one in trees
        if now - one["at"] < DAY
    ]  # fmt: skip
    return sorted(found, key=lambda one: -one["at"])[:SHOWN]


def _event(event: Data, icon: str) -> Data:
    data = event["data"]
    what = f"{event['system']}: {data.get('act', data.get('what', event['tag']))}"
    return {"icon": icon, "what": what, "more": str(data.get("by", "")), "at": event["at"], "link": ""}


async def _windows(ask: Ask, now: float) -> Data:
    """The windows of the next hours, as positions in percent."""
    sheet = await ask.get("/v1/calendar", begin=now, days=1, usual="false")
    end = now + HOURS * 3600

    def place(at: float) -> float:
        return round(100 * (min(max(at, now), end) - now) / (end - now), 2)

    rows = []
    for one in sheet["calendars"]:
        spans = [pair for pair in one["windows"] if pair[1] > now and pair[0] < end]
        bars = [
            {"kind": one["kind"], "x": place(a), "w": round(place(b) - place(a), 2), "title": ""}
            for a, b in spans
        ]
        rows.append({"name": one["name"], "kind": one["kind"], "bars": bars, "spans": spans})
    fires = [{"x": place(one["at"]), **one} for one in sheet["fires"] if now < one["at"] < end]
    hours = [(round(100 * n / HOURS, 2), now + n * 3600) for n in range(HOURS)]
    return {"rows": rows, "fires": fires, "hours": hours}
