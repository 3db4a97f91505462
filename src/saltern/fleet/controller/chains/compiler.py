"""Compiles a chain, its inputs and a target into the steps of each system, for a plan or a run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

from msgspec import Struct

from saltern.chains.document import Chain, read_chain
from saltern.chains.inputs import MASK, Input, mask_values
from saltern.fleet.chains.model import RunState
from saltern.fleet.chains.plans import SystemPlan, plan_systems
from saltern.fleet.chains.rollout import Rollout, make_run, make_stages
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.chain_library import SNAPSHOTS, Groups, refuse_unable
from saltern.fleet.controller.chains.vault import Vault
from saltern.fleet.controller.chains.versions import Source, source_of
from saltern.fleet.controller.submission import LARGEST, Submission, Submitted, written_size
from saltern.fleet.controller.target import refuse_empty
from saltern.fleet.protocol.ids import new_jid
from saltern.language.diagnostics import Diagnostic, OperationError, SalternError, did_you_mean

Permit = Callable[[tuple[str, ...]], Awaitable[str]]
Submit = Callable[[str, Submission, Permit], Awaitable[Submitted]]


class Seams(Struct, frozen=True, kw_only=True):
    """What chains need from the rest of the controller."""

    resolve: Callable[[str], Awaitable[list[str]]]
    grain: Callable[[str, str], str]
    tree: Callable[[str], Awaitable[str]]
    wake: Callable[[], None]
    ids: Callable[[], list[str]]
    submit: Submit
    vault: Vault
    pillars: Callable[[Collection[str]], Awaitable[dict[str, str]]]
    groups: Callable[[Collection[str], Collection[str]], Groups]  # systems by some of their facts
    checks: Callable[[], Collection[str]] = tuple  # names of checks that run on the controller


class Asked(Struct, frozen=True, kw_only=True):
    """What to run where: a chain by its name and version, or a text."""

    target: str
    chain: str = ""
    version: int | None = None
    text: str = ""
    inputs: dict[str, Any] = {}
    rollout: Rollout = Rollout()
    environment: str = "base"


class Compiled(Struct, frozen=True, kw_only=True):
    """The text, the chain with its inputs, and the plan of each system."""

    source: Source
    chain: Chain
    plans: dict[str, SystemPlan]

    @property
    def shown_inputs(self) -> dict[str, Any]:
        """The inputs without secrets."""
        return mask_values(self.chain.inputs, self.chain.values)


async def compile_for(calls: Calls, seams: Seams, ask: Asked) -> Compiled:
    """Compile a chain for a target. Raises ``OperationError`` if it cannot run on a system of it."""
    source = await calls.read(source_of, ask.chain, ask.version, ask.text)
    chain = read_chain(source.text, source.file, ask.inputs)
    if written_size([source.text, ask.inputs]) > LARGEST:
        what = f"the chain and its inputs are too long: {LARGEST} bytes are allowed"
        raise OperationError(Diagnostic(code="chain-size", what=what, fix="put states into SLS files"))
    systems = await seams.resolve(ask.target)
    if not systems:
        raise refuse_empty(ask.target, seams.ids())
    if any(action.kind == "transaction" for action in (*chain.actions, *chain.finalizers)):
        refuse_unable(chain, await asyncio.to_thread(seams.groups, systems, (SNAPSHOTS,)))
    return Compiled(source=source, chain=chain, plans=plan_systems(chain, systems))


async def shown_inputs(
    calls: Calls, chain: str, version: int | None, text: str, given: Mapping[str, Any]
) -> dict[str, Any]:
    """The inputs for display before the chain is compiled; all are concealed if it cannot be read."""
    try:
        source = await calls.read(source_of, chain, version, text)
        specs = await asyncio.to_thread(declared_inputs, source.text)
    except SalternError:
        return dict.fromkeys(given, MASK)
    return mask_values(specs, given)


def declared_inputs(text: str) -> Mapping[str, Input]:
    """The inputs that a chain declares."""
    return read_chain(text, "chain.yaml").inputs


async def lay_out(
    seams: Seams, rollout: Rollout, version: str, plans: dict[str, SystemPlan], now: float
) -> RunState:
    """The run of these plans, with its waves."""
    _refuse_unknown_check(rollout, seams.checks())
    meant = {one.name: await seams.resolve(one.target) for one in rollout.stages}
    groups = {one: seams.grain(one, rollout.group_by) for one in plans} if rollout.group_by else {}
    return make_run(
        new_jid(now),
        version,
        {system: plan.steps for system, plan in plans.items()},
        rollout,
        now=now,
        stages=make_stages(rollout, list(plans), meant),
        groups=groups,
    )


def _refuse_unknown_check(rollout: Rollout, known: Collection[str]) -> None:
    asked = rollout.health.check if rollout.health is not None else ""
    if not asked or asked in known:
        return
    what = f"this controller has no health check {asked!r}"
    fix = did_you_mean(asked, known) or "`health_checks` in its controller.yaml lists those that it has"
    raise OperationError(Diagnostic(code="chain-health", what=what, fix=fix))
