"""The states of a run on one system: the report and the graph of the engine, as they are."""

from __future__ import annotations

from saltern.fleet.console.row import Data, Visit


async def gather(visit: Visit) -> Data:
    """What a job returned from one system."""
    jid, system = visit.path["jid"], visit.path["system"]
    job = await visit.ask.get("/v1/jobs/{jid}", jid=jid)
    found = await visit.ask.get("/v1/jobs/{jid}/returns/{system}", jid=jid, system=system)
    return {"job": job, "returned": found, "rows": state_rows(found["body"]), "jid": jid, "system": system}


def state_rows(body: object) -> list[Data]:
    """The states of a run, the worst first; nothing if it returned something else."""
    states = body.get("states") if isinstance(body, dict) else None
    values = states if isinstance(states, list) else list(states.values()) if isinstance(states, dict) else []
    return [one for one in values if isinstance(one, dict)]
