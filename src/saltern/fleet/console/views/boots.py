"""When a system booted in the last year, and which boots were not part of a run."""

from __future__ import annotations

import time
from itertools import pairwise

from saltern.fleet.console.row import Data, Visit

YEAR = 365 * 86_400.0


async def gather_boots(visit: Visit, id_: str, legs: list[Data]) -> Data:
    """The boots of a year: the agent reports the boot at each start."""
    if not visit.may("events.read"):
        return boots([], [], visit.now)
    since = visit.now - YEAR
    found = await visit.ask.get(
        "/v1/history", tag=f"salt/minion/{glob_free(id_)}/start", since=since, limit=1000
    )
    return boots(found["items"], legs, visit.now)


def glob_free(name: str) -> str:
    """A name as a pattern that matches only itself."""
    return "".join(f"[{one}]" if one in "*?[" else one for one in name)


def boots(starts: list[Data], legs: list[Data], now: float) -> Data:
    """When a system booted, by the starts of its agent, the oldest first; and which run it was part of. Pure.

    A start under the same boot is not a boot: the agent was updated or restarted. The first known start
    does not show when the system booted.
    """
    known = sorted((one for one in starts if one["data"].get("boot")), key=lambda one: one["at"])
    rows = []
    for before, one in pairwise(known):
        if one["data"]["boot"] != before["data"]["boot"]:
            leg = next((leg for leg in legs if _holds(leg, one["at"], now)), None)
            rows.append(
                {
                    "at": one["at"],
                    "boot": str(one["data"]["boot"]),
                    "x": round(100 * (1 - (now - one["at"]) / YEAR), 2),
                    "run": leg["run"] if leg else "",
                    "chain": leg["chain"] if leg else "",
                }
            )
    ticks = [(round(100 * n / 12, 2), _month(now - YEAR * (12 - n) / 12)) for n in range(12)]
    return {"rows": rows, "unplanned": sum(not one["run"] for one in rows), "ticks": ticks}


def _holds(leg: Data, at: float, now: float) -> bool:
    return bool(leg["begun"]) and leg["begun"] <= at <= (leg["ended"] or now)


def _month(at: float) -> str:
    return time.strftime("%b", time.gmtime(at))
