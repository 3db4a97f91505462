"""What actions of a chain took in its runs."""

from __future__ import annotations

from sqlalchemy import Connection, select

from saltern.chains.statuses import Step
from saltern.fleet.store.chain_tables import CHAIN_LEGS, CHAIN_RUNS, CHAIN_STEPS

MOST = 20_000  # steps that are looked at, the newest first


def step_times(connection: Connection, chain: str) -> dict[str, list[float]]:
    """Seconds that each action of a chain took where it succeeded."""
    query = (
        select(CHAIN_STEPS.c.action, CHAIN_STEPS.c.took)
        .join(CHAIN_LEGS, CHAIN_LEGS.c.id == CHAIN_STEPS.c.leg)
        .join(CHAIN_RUNS, CHAIN_RUNS.c.id == CHAIN_LEGS.c.run)
        .where(CHAIN_RUNS.c.chain == chain, CHAIN_STEPS.c.status == Step.SUCCEEDED.value)
        .order_by(CHAIN_RUNS.c.id.desc())
        .limit(MOST)
    )
    found: dict[str, list[float]] = {}
    for action, seconds in connection.execute(query):
        found.setdefault(str(action), []).append(float(seconds))
    return found
