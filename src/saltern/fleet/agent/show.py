"""The status of an agent, for people."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from saltern.fleet.agent.clock import WRONG


def status_lines(found: dict[str, Any]) -> Iterator[str]:
    """What `saltern agent status` prints."""
    yield f"{found['id']} in fleet {found['fleet']}, saltern {found['version']}, start {found['starts']}"
    why = f" ({found['disconnected']})" if found.get("disconnected") else ""
    yield "connected" if found["connected"] else f"not connected{why}: it tries again by itself"
    if found.get("credential"):
        yield found["credential"]
    if found["synced"]:
        yield f"synced at {time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(found['synced']))} UTC"
    if found["refused"]:
        yield f"refused by the controller: {found['refused']}"
    elif found["problem"]:
        yield f"no sync: {found['problem']}"
    if found["draining"] and found["draining"] != found["refused"]:
        yield f"takes no jobs: {found['draining']}"
    if abs(found["clock"]) >= WRONG:
        yield f"the clock of this machine is wrong by {-found['clock']:.0f} s; the fleet's time is used"
    jobs = found["jobs"]
    counted = ", ".join(
        f"{jobs[state]} {state}" for state in ("waiting", "running", "returned") if jobs.get(state)
    )
    yield f"jobs: {counted or 'none'}"
    for jid in found["running"]:
        yield f"  runs {jid}"
    if refusals := found["refusals"]:
        yield "refused messages: " + ", ".join(f"{count} {why}" for why, count in sorted(refusals.items()))
