"""The overview: what is broken, since when, what changed before it, what waits for whom."""

from __future__ import annotations

from saltern.fleet.console.row import Data, Visit


async def gather(visit: Visit) -> Data:
    runs = await visit.ask.get("/v1/chain-runs", limit=20, open=True)
    return {"runs": runs["items"]}
