"""What a chain means for each of many systems: the plan of a run, and its digest. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from msgspec import Struct, json

from saltern.chains.compile import plan_for
from saltern.chains.document import Chain
from saltern.fleet.chains.model import StepPlan
from saltern.language.diagnostics import Diagnostic, OperationError


class SystemPlan(Struct, frozen=True, kw_only=True):
    """The steps of one system, and the digest that identifies them there."""

    system: str
    steps: tuple[StepPlan, ...]
    sha256: str


def plan_systems(chain: Chain, systems: Sequence[str]) -> dict[str, SystemPlan]:
    """The plan of each system that has an action, in the order of ``systems``."""
    places = {action.id: place for place, action in enumerate(chain.actions)}
    found: dict[str, SystemPlan] = {}
    for system in systems:
        plan = plan_for(chain, system)
        if not plan.segments:
            continue
        last = {one.id for one in (*plan.handling, *plan.finalizers)}
        handles = {one.id: name for name, own in plan.handlers.items() for one in own.actions}
        steps = tuple(
            StepPlan(
                id=one.id,
                kind=one.kind,
                on_failure=one.policy.on_failure,
                final=one.id in last,
                handles=handles.get(one.id, ""),
                place=places.get(one.id, len(places)),
                segment=plan.segment_of(one.id).number,
                expected=one.policy.expected or 0,
            )
            for one in plan.every
        )
        found[system] = SystemPlan(system=system, steps=steps, sha256=plan.sha256())
    if not found:
        raise no_system(chain)
    return found


def no_system(chain: Chain) -> OperationError:
    what = f"no action of the chain {chain.name!r} is for a system of the target"
    fix = "name these systems among the targets of an action, or choose others with --on"
    return OperationError(Diagnostic(code="chain-empty", what=what, fix=fix))


def plan_digest(
    version: str, plans: Mapping[str, SystemPlan], rollout: object, inputs: Mapping[str, object]
) -> str:
    """The digest of everything that will be done, to which approvals are bound."""
    legs = {system: plan.sha256 for system, plan in plans.items()}
    whole = {"version": version, "legs": legs, "rollout": rollout, "inputs": inputs}
    return sha256(json.encode(whole, order="sorted")).hexdigest()
