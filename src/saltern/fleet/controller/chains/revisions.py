"""Revisions: other inputs for the actions that a run has not done yet. Finished actions stay as they are.

A run that was approved needs a new approval for its revision, bound to the digest of the new plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, json
from msgspec.structs import replace

from saltern.chains.document import Chain, read_chain
from saltern.chains.inputs import mask_values
from saltern.chains.statuses import ENDED_WELL
from saltern.fleet.chains.control import Order, events_of, legs_of, outcome
from saltern.fleet.chains.model import LegState, RunState
from saltern.fleet.chains.plans import plan_digest, plan_systems
from saltern.fleet.controller.chains.decisions import Decisions
from saltern.fleet.controller.chains.vault import Vault
from saltern.fleet.store import chain_revisions, chain_runs
from saltern.fleet.store.chain_gates import APPROVED, add_gates, gate_rows
from saltern.fleet.store.chain_gates import OPEN as GATE_OPEN
from saltern.fleet.store.chains import version_of
from saltern.fleet.store.database import Connection
from saltern.language.diagnostics import Diagnostic, OperationError

GATE = "revision "  # the prefix of the names of their gates
Row = Mapping[str, Any]


class Revised(Struct, frozen=True, kw_only=True):
    """A chain with its new inputs, the new plan of each leg, and the digest of all of it."""

    chain: Chain
    legs: dict[str, str]
    digest: str


def propose(
    connection: Connection, who: str, row: Row, order: Order, now: float, vault: Vault
) -> dict[str, str]:
    """Store a revision. It applies at once, unless the run needs a new approval."""
    run = str(row["id"])
    state = Decisions().load(connection, run)[1]
    legs = _revisable(state, order)
    if not legs:
        what = f"run {run} has no system with actions left that do not run now"
        raise OperationError(Diagnostic(code="chain-order", what=what, fix=f"saltern chain show {run}"))
    inputs = {**vault.open_values(inputs_of(connection, row)), **order.inputs}
    revised = _revise(connection, row, state, inputs)
    number = chain_revisions.next_number(connection, run)
    new = {
        "run": run,
        "number": number,
        "inputs": json.encode(vault.seal_values(revised.chain.inputs, revised.chain.values)),
        "plan_sha256": revised.digest,
        "legs": json.encode({leg.id: revised.legs[leg.system] for leg in legs}),
        "order": json.encode(replace(order, inputs={})),
        "status": chain_revisions.OPEN,
        "author": who,
        "at": now,
    }
    chain_revisions.add_revision(connection, new)
    if gate := _needed_gate(connection, run):
        life = (gate["expires"] or now) - (gate["opened"] or now)
        fresh = {"status": GATE_OPEN, "opened": now, "expires": now + life, "decided": None}
        name = f"{GATE}{number}"
        add_gates(connection, [{**gate, **fresh, "name": name, "place": name, "plan_sha256": revised.digest}])
        return {"run": f"revision {number} waits for approval"}
    return {**put_in_force(connection, run, number, now), "inputs": f"revision {number}"}


def _needed_gate(connection: Connection, run: str) -> Row | None:
    """The approval that the run had; None: it had none."""
    rows = [row for row in gate_rows(connection, run) if row["status"] == APPROVED]
    return next((row for row in rows if row["name"] == "run"), rows[0] if rows else None)


def _revisable(run: RunState, order: Order) -> list[LegState]:
    """Legs that have not succeeded and do not run now: running ones continue unchanged."""
    return [
        leg
        for leg in legs_of(run, order)
        if leg.status not in ENDED_WELL and (leg.is_over or leg.sent is None or leg.status.value == "paused")
    ]


def _revise(connection: Connection, row: Row, run: RunState, inputs: Row) -> Revised:
    version = version_of(connection, row["chain"], row["version"])
    assert version is not None
    chain = read_chain(version.text, f"{row['chain']}.yaml", inputs)
    plans = plan_systems(chain, [leg.system for leg in run.legs.values()])
    shown = mask_values(chain.inputs, chain.values)
    digest = plan_digest(version.sha256, plans, json.decode(row["strategy"]), shown)
    return Revised(chain=chain, legs={name: plan.sha256 for name, plan in plans.items()}, digest=digest)


def inputs_of(connection: Connection, row: Row, revision: int | None = None) -> dict[str, Any]:
    """The stored inputs of a run, with secret ones sealed: the original ones (0), those of a revision, or
    those of the newest revision that applies.
    """
    rows = {one["number"]: one for one in chain_revisions.revision_rows(connection, row["id"])}
    valid = [number for number, one in rows.items() if one["status"] == chain_revisions.IN_FORCE]
    number = max(valid, default=0) if revision is None else revision
    found: dict[str, Any] = json.decode(rows[number]["inputs"] if number else row["inputs"])
    return found


def put_in_force(connection: Connection, run: str, number: int, now: float) -> dict[str, str]:
    """Give the legs of a revision their new plan, and resume them."""
    row = chain_revisions.revision_row(connection, run, number)
    assert row is not None
    chain_revisions.set_status(connection, run, number, chain_revisions.IN_FORCE)
    order = json.decode(row["order"], type=Order)
    chain_runs.revise_legs(connection, json.decode(row["legs"]), number)
    chain_runs.set_plan(connection, run, row["plan_sha256"])
    decided = Decisions().decide(connection, run, lambda one: events_of(one, order, now), reason=order.reason)
    return outcome(decided.before, decided.after, order)


def close(connection: Connection, run: str, gate: str, *, approved: bool, expired: bool, now: float) -> None:
    """Apply the decision on the gate of a revision."""
    number = int(gate.removeprefix(GATE))
    if approved:
        put_in_force(connection, run, number, now)
        return
    status = chain_revisions.EXPIRED if expired else chain_revisions.REJECTED
    chain_revisions.set_status(connection, run, number, status)


def list_revisions(connection: Connection, row: Row, chain: Chain) -> list[dict[str, Any]]:
    """The revisions of a run as people see them."""
    same = ("number", "status", "author", "at", "plan_sha256")
    return [
        {
            **{name: one[name] for name in same},
            "inputs": mask_values(chain.inputs, json.decode(one["inputs"])),
            "systems": [leg.removeprefix(f"{row['id']}.") for leg in json.decode(one["legs"])],
        }
        for one in chain_revisions.revision_rows(connection, row["id"])
    ]
