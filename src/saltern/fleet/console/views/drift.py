"""What has drifted on a system: the states that would change, by the newest test."""

from __future__ import annotations

from saltern.fleet.api.problems import ApiError
from saltern.fleet.console.row import Data, Visit
from saltern.fleet.console.views.states import state_rows

STATES = ("state.apply", "state.highstate", "state.sls")
TESTS = 5  # jobs that are searched for an answered test
DRIFTED = 6  # states that are listed


async def gather_drift(visit: Visit, id_: str, jobs: list[Data]) -> Data | None:
    """The states that would change by the newest test; None if there was none."""
    for job in [one for one in jobs if one["function"] in STATES][:TESTS]:
        if not (await visit.ask.get("/v1/jobs/{jid}", jid=job["jid"]))["test"]:
            continue
        try:
            found = await visit.ask.get("/v1/jobs/{jid}/returns/{system}", jid=job["jid"], system=id_)
        except ApiError:
            continue  # it has not answered
        rows = [one for one in state_rows(found["body"]) if one["word"] in ("failed", "would change")]
        at = found["ended"] or job["created"]
        return {"at": at, "jid": job["jid"], "rows": rows[:DRIFTED], "more": max(0, len(rows) - DRIFTED)}
    return None
