"""Seals plans whose dry run is over, on the one controller that holds the lease."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, json

from saltern.fleet.chains.amounts import read_amount
from saltern.fleet.chains.dry_run import Answer, read_answer
from saltern.fleet.chains.estimate import Estimate, estimate
from saltern.fleet.chains.saved_plan import PlannedSystem, SavedPlan
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.chains.plan_desk import known_facts
from saltern.fleet.controller.chains.plan_seal import Seal
from saltern.fleet.controller.chains.reports import unpack
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.singleton import Hold, LeaseLost
from saltern.fleet.store import chain_plans, job_queries
from saltern.fleet.store.chain_history import step_times
from saltern.fleet.store.database import Connection
from saltern.fleet.store.events import NewEvent, store_events
from saltern.fleet.store.statuses import ENDS
from saltern.language.diagnostics import OperationError
from saltern.system.clock import stamp

log = logging.getLogger(__name__)
Row = Mapping[str, Any]
GONE = "its dry run is no longer known"


class Request(Struct, frozen=True, kw_only=True):
    """The request, as it was when the dry run began."""

    chain: str
    version_sha256: str
    follows: bool
    pinned: bool
    inputs: dict[str, Any]
    rollout: dict[str, Any]
    environment: str
    tree: str
    legs: dict[str, str]
    waves: list[list[str]]
    soaks: list[float]
    away: dict[str, float | None]
    pillars: dict[str, str] = {}


class _Body(Struct):
    request: Request


class PlanKeeper:
    """The work of one round."""

    def __init__(self, calls: Calls, seal: Seal, hub: Hub, *, now: Callable[[], float]) -> None:
        self._calls = calls
        self._seal = seal
        self._hub = hub
        self._now = now

    async def __call__(self, hold: Hold) -> bool:
        """False if there is no open plan."""
        if not await hold.look(chain_plans.has_open_plans):
            return False
        is_open, ready = await self._calls.read(_ready)
        for row in ready:
            try:
                await hold.write(self._close, row, self._now())
            except (LeaseLost, OperationError, TimeoutError):
                raise
            except Exception:
                log.exception("plan %s of a chain cannot be sealed", row["id"])
                continue
            self._hub.wake()
        return is_open

    def _close(self, connection: Connection, row: Row, now: float) -> None:
        """In the thread of the database."""
        plan, expected = made_plan(connection, row)
        if chain_plans.seal_plan(connection, row["id"], self._seal.seal_plan(plan, expected)):
            data = {"plan": row["id"], "chain": plan.chain, "systems": len(plan.systems)}
            tag = f"saltern/chain-plan/{row['id']}"
            store_events(connection, [NewEvent(tag=tag, data=data, at=now)])


def _ready(connection: Connection) -> tuple[bool, list[Row]]:
    """Whether there are open plans, and those whose job is over everywhere, or gone."""
    rows = chain_plans.open_plans(connection)
    return bool(rows), [row for row in rows if not unfinished_systems(connection, row["id"])]


def unfinished_systems(connection: Connection, plan: str) -> list[str]:
    """The systems whose dry run is not over."""
    return [one.system for one in job_queries.targets(connection, plan) if one.status not in ENDS]


def made_plan(connection: Connection, row: Row) -> tuple[SavedPlan, Estimate]:
    """The plan from the answers of the systems, and its estimated time."""
    asked = json.decode(row["body"], type=_Body).request
    found = _answers(connection, row["id"], asked)
    planned = {name: one for name, one in found.items() if isinstance(one, PlannedSystem)}
    plan = SavedPlan(
        chain=asked.chain,
        version=row["version"],
        version_sha256=asked.version_sha256,
        follows=asked.follows,
        target=row["target"],
        pinned=asked.pinned,
        inputs=asked.inputs,
        rollout=asked.rollout,
        environment=asked.environment,
        tree=asked.tree,
        systems=planned,
        unplanned={name: one for name, one in found.items() if isinstance(one, str)},
        pillars={name: one for name, one in asked.pillars.items() if name in planned},
    )
    return plan, _estimate(connection, row["chain"], asked, planned)


def _answers(connection: Connection, jid: str, asked: Request) -> dict[str, PlannedSystem | str]:
    targets = {one.system: one for one in job_queries.targets(connection, jid)}
    bodies = job_queries.bodies(connection, jid, list(asked.legs))
    known = known_facts(connection, list(asked.legs))
    found: dict[str, PlannedSystem | str] = {}
    for system, sha256 in asked.legs.items():
        if system in asked.away:
            since = asked.away[system]
            found[system] = f"away since {stamp(since)} UTC" if since else "away"
        elif (target := targets.get(system)) is None:
            found[system] = GONE
        else:
            body = unpack(*bodies[system]) if system in bodies else None
            answer = Answer(status=target.status, why=target.why, body=body)
            found[system] = read_answer(answer, sha256, known.get(system, {}))
    return found


def _estimate(
    connection: Connection, chain: str, asked: Request, planned: Mapping[str, PlannedSystem]
) -> Estimate:
    legs = {name: [step["action"] for step in one.steps] for name, one in planned.items()}
    limit = asked.rollout.get("max_in_flight")
    at_once = len(legs) if limit is None else read_amount(limit).at_most(len(legs))
    return estimate(step_times(connection, chain), legs, asked.waves, asked.soaks, at_once)
