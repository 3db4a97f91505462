"""The parts of a chain that are left out of its segments for a real Salt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import NODEFAULT
from msgspec.structs import FieldInfo, fields

from saltern.chains.compile import LegPlan
from saltern.chains.document import Action

# The keys of each kind of action that its state for Salt does not have.
LOST: Mapping[str, tuple[str, ...]] = {
    "command": ("verify",),
    "script": ("verify",),
    "reboot": (
        *("start_deadline", "return_deadline", "checks", "stable", "failed_units"),
        *("force", "pending_shutdown"),
    ),
    "agent": ("source", "hashes", "slots", "deadline"),
    "transaction": ("refresh", "env", "timeout"),
}


def losses(plan: LegPlan) -> list[str]:
    """Each part of the chain that is not in the segments, as in ``verify of action a``."""
    found = ["finally"] if plan.finalizers else []
    if plan.chain.deadline is not None:
        found.append("deadline")
    for action in (*plan.steps, *plan.handling):
        found += [f"{word} of action {action.id}" for word in _losses_of(action)]
    return found


def _losses_of(action: Action) -> Iterator[str]:
    body, policy = action.body, action.policy
    known = {one.name: one for one in fields(body)}
    yield from (name for name in LOST.get(action.kind, ()) if getattr(body, name) != _default(known[name]))
    if action.kind == "reboot" and getattr(body, "when", "always") == "needed":
        yield "when: needed"
    if policy.retry is not None and policy.retry.backoff != 1:
        yield "backoff"
    if policy.on_failure == "pause":
        yield "on_failure: pause"
    if policy.resume is not None:
        yield "resume"


def _default(field: FieldInfo) -> object:
    return field.default if field.default_factory is NODEFAULT else field.default_factory()
