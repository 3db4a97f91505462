"""What actions of a chain took in its runs, and how long systems were down for reboots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, select

from saltern.chains.statuses import Step
from saltern.fleet.store.chain_tables import CHAIN_LEGS, CHAIN_RUNS, CHAIN_STEPS

AT_ONCE = 500  # systems in one statement
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


def return_times(connection: Connection, systems: Sequence[str]) -> dict[str, list[float]]:
    """Seconds that each of the systems took for its reboots in any chain, the newest first."""
    found: dict[str, list[float]] = {}
    for some in _parts(systems):
        query = (
            select(CHAIN_LEGS.c.system, CHAIN_STEPS.c.took)
            .join(CHAIN_STEPS, CHAIN_STEPS.c.leg == CHAIN_LEGS.c.id)
            .where(CHAIN_LEGS.c.system.in_(some), CHAIN_STEPS.c.kind == "reboot")
            .where(CHAIN_STEPS.c.status == Step.SUCCEEDED.value)
            .order_by(CHAIN_LEGS.c.run.desc())
            .limit(MOST)
        )
        for system, seconds in connection.execute(query):
            found.setdefault(str(system), []).append(float(seconds))
    return found


def _parts(systems: Sequence[str]) -> Iterator[Sequence[str]]:
    return (systems[at : at + AT_ONCE] for at in range(0, len(systems), AT_ONCE))
