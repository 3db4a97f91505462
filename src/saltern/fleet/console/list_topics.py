"""The topics of lists: whether there is something new. The list itself never moves while it is read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping

from saltern.fleet.console.ask import Ask
from saltern.fleet.console.list_marks import job_marks, mark_of, run_marks
from saltern.fleet.console.row import Data, Topic

NEWEST = 50  # rows that are compared
Look = Callable[[Ask], Awaitable[Iterable[tuple[str, object]]]]


async def _runs(ask: Ask) -> Iterable[tuple[str, object]]:
    return run_marks((await ask.get("/v1/chain-runs", limit=NEWEST))["items"])


async def _jobs(ask: Ask) -> Iterable[tuple[str, object]]:
    return job_marks((await ask.get("/v1/jobs", limit=NEWEST))["items"])


async def _chains(ask: Ask) -> Iterable[tuple[str, object]]:
    page = await ask.get("/v1/chains", limit=100)
    return [(one["name"], one["version"]) for one in page["items"]]


async def _events(ask: Ask) -> Iterable[tuple[str, object]]:
    page = await ask.get("/v1/history", tag="*", limit=NEWEST)
    return [(str(one["number"]), "") for one in page["items"]]


async def _systems(ask: Ask) -> Iterable[tuple[str, object]]:
    """The newest event of each kind: a system connected, disconnected or joined."""
    pages = [await ask.get("/v1/history", tag=tag, limit=1) for tag in ("salt/presence/change", "salt/key")]
    return [("systems", [one["number"] for page in pages for one in page["items"]])]


def _topic(name: str, action: str, look: Look, *tags: str) -> Topic:
    async def gather(ask: Ask, _names: Mapping[str, str], _now: float) -> Data:
        return {"mark": mark_of(await look(ask))}

    return Topic(name=f"list/{name}", action=action, gather=gather, parts=("list-mark",), tags=tags or ("",))


LIST_TOPICS = (
    _topic("runs", "jobs.read", _runs, "saltern/chain/"),
    _topic("jobs", "jobs.read", _jobs, "salt/job/", "saltern/job/"),
    _topic("chains", "chains.read", _chains),
    _topic("events", "events.read", _events),
    _topic("systems", "systems.read", _systems, "salt/presence", "salt/key", "salt/auth"),
)
