"""``ChainDesk``: the operations on runs of chains that the API offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct, convert, json, to_builtins
from msgspec.structs import replace

from saltern.fleet.chains.control import Order, closed_gate, events_of, outcome, unknown_parts
from saltern.fleet.chains.estimate import expected_times, usual_returns
from saltern.fleet.chains.model import RunState
from saltern.fleet.chains.plans import SystemPlan, plan_digest
from saltern.fleet.chains.rollout import Rollout, gates_of
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.chains import gates, records, revisions
from saltern.fleet.controller.chains.compiler import (
    Asked,
    Compiled,
    Permit,
    Seams,
    compile_for,
    declared_inputs,
    lay_out,
    shown_inputs,
)
from saltern.fleet.controller.chains.decisions import Decisions, UnknownRun
from saltern.fleet.controller.chains.plan_desk import PlanDesk
from saltern.fleet.controller.chains.vault import Vault
from saltern.fleet.controller.chains.versions import Source
from saltern.fleet.store import audit, chain_gates, chain_runs
from saltern.fleet.store.chain_history import return_times, step_times
from saltern.fleet.store.database import Connection
from saltern.language.diagnostics import Diagnostic, OperationError


class NewRun(Asked, frozen=True, kw_only=True):
    """What to run. ``plan``: a stored plan; then only a token and secret inputs are given."""

    target: str = ""
    plan: str = ""
    client_token: str | None = None


class Started(Struct, frozen=True, kw_only=True):
    """A run that is stored. ``known``: an earlier request with the same token has made it."""

    run: str
    systems: list[str]
    status: str
    plan_sha256: str
    known: bool = False


class ChainDesk:
    """Starts runs and takes orders about them. Problems are ``OperationError``, each with a code."""

    def __init__(self, calls: Calls, seams: Seams, plans: PlanDesk, *, now: Callable[[], float]) -> None:
        self._calls = calls
        self._seams = seams
        self._now = now
        self.plans = plans

    # -- start ---------------------------------------------------------------------------------------

    async def start(self, who: str, ask: NewRun, *, permit: Permit) -> Started:
        """Store a run with all its legs; the keeper of runs begins it."""
        if ask.client_token and (known := await self._calls.read(_find, who, ask.client_token)):
            return known
        made = await (self._run_planned(ask) if ask.plan else self._make(ask))
        rule = await permit(tuple(made.plans))
        tree = await self._seams.tree(made.ask.environment)
        started = await self._calls.write(_write_run, made, who=who, rule=rule, tree=tree, now=self._now())
        self._seams.wake()
        return started

    async def _make(self, ask: NewRun) -> Made:
        """The run that was requested."""
        found = await compile_for(self._calls, self._seams, ask)
        return await self._laid_out(ask, found, found.plans)

    async def _run_planned(self, ask: NewRun) -> Made:
        """A run of a stored plan, on the planned systems; refused if what it depends on has changed."""
        kept = await self.plans.find(ask.plan)
        compiled = await self.plans.check(kept, ask.inputs)
        as_planned = NewRun(
            target=kept.plan.target,
            chain=compiled.source.chain,
            version=kept.plan.version,
            rollout=convert(kept.plan.rollout, Rollout),
            environment=kept.plan.environment,
            client_token=ask.client_token,
        )
        systems = {name: plan for name, plan in compiled.plans.items() if name in kept.plan.systems}
        return replace(await self._laid_out(as_planned, compiled, systems), digest=kept.sha256)

    async def _laid_out(self, ask: NewRun, found: Compiled, plans: dict[str, SystemPlan]) -> Made:
        source = found.source
        run = await lay_out(self._seams, ask.rollout, source.sha256, plans, self._now())
        digest = plan_digest(source.sha256, plans, to_builtins(ask.rollout), found.shown_inputs)
        ask = replace(ask, inputs=self._seams.vault.seal_values(found.chain.inputs, found.chain.values))
        return Made(ask=ask, source=source, plans=plans, run=run, digest=digest)

    def keep_inputs(self, text: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs of a chain in the form in which they are stored."""
        return self._seams.vault.seal_values(declared_inputs(text), given)

    async def show_inputs(
        self, chain: str, version: int | None, text: str, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The inputs of a request without secrets."""
        return await shown_inputs(self._calls, chain, version, text, given)

    # -- orders --------------------------------------------------------------------------------------

    async def order(self, who: str, run: str, order: Order) -> dict[str, str]:
        """Apply an order; return what it changed, for the run and for each system that it names."""
        with self._wake_after(run):
            return await self._calls.write(_apply_order, who, run, order, self._now(), self._seams.vault)

    async def vote(self, who: gates.Voter, run: str, gate: str, vote: gates.Ballot) -> str:
        """Approve or reject a gate; return its new status."""
        with self._wake_after(run):
            return await self._calls.write(gates.cast, who, run, gate, vote, self._now())

    @contextmanager
    def _wake_after(self, run: str) -> Iterator[None]:
        """Change a run, and wake the engine if that was done."""
        try:
            yield
        except UnknownRun:
            raise unknown_run(run) from None
        self._seams.wake()


class Made(Struct, frozen=True, kw_only=True):
    """A run that is not stored yet."""

    ask: NewRun
    source: Source
    plans: dict[str, SystemPlan]
    run: RunState
    digest: str


def unknown_run(run: str) -> OperationError:
    what, fix = f"there is no run {run!r} of a chain", "`saltern chain list` lists them"
    return OperationError(Diagnostic(code="chain-run-unknown", what=what, fix=fix))


def _find(connection: Connection, who: str, token: str) -> Started | None:
    row = chain_runs.run_of_token(connection, who, token)
    if row is None:
        return None
    systems = [leg["system"] for leg in chain_runs.leg_rows(connection, row["id"])]
    return Started(
        run=row["id"], systems=systems, status=row["status"], plan_sha256=row["plan_sha256"], known=True
    )


def _with_history(connection: Connection, run: RunState, chain: str) -> RunState:
    """The run, with the expected times of its actions and of reboots, from earlier runs."""
    systems = [leg.system for leg in run.legs.values()]
    usual = usual_returns(return_times(connection, systems), systems)
    known = expected_times(step_times(connection, chain))
    legs = {
        leg.id: replace(
            leg,
            usual_return=usual[leg.system],
            plan=tuple(replace(one, expected=one.expected or known.get(one.id, 0)) for one in leg.plan),
        )
        for leg in run.legs.values()
    }
    return replace(run, legs=legs)


def _write_run(connection: Connection, made: Made, *, who: str, rule: str, tree: str, now: float) -> Started:
    ask, run = made.ask, made.run
    if ask.client_token:
        chain_runs.lock_tokens(connection, who)  # both may be sent at once
        if known := _find(connection, who, ask.client_token):
            return known
    chain, number = made.source.store(connection, who, now)
    run = _with_history(connection, run, chain)
    row = {
        **records.run_values(run),
        "id": run.id,
        "chain": chain,
        "version": number,
        "target": ask.target,
        "inputs": json.encode(ask.inputs),
        "strategy": json.encode(run.strategy),
        "environment": ask.environment,
        "tree": tree,
        "rule": rule,
        "plan_sha256": made.digest,
        "author": who,
        "client_token": ask.client_token or None,
        "created": now,
        "next_wakeup": now,
    }
    _add(connection, replace(made, run=run), row)
    gates.add(connection, run.id, gates_of(ask.rollout, run), made.digest, now)
    detail = {"run": run.id, "chain": made.source.name, "version": number, "systems": len(run.legs)}
    audit.append(connection, who, "chain.run", {**detail, "target": ask.target, "rule": rule}, now)
    return Started(
        run=run.id,
        systems=[leg.system for leg in run.legs.values()],
        status=run.status.value,
        plan_sha256=made.digest,
    )


def _add(connection: Connection, made: Made, row: dict[str, Any]) -> None:
    run, legs = made.run, list(made.run.legs.values())
    chain_runs.add_run(
        connection,
        row,
        [records.wave_values(run.id, wave) for wave in run.waves],
        [records.new_leg(run.id, leg, at, made.plans[leg.system].sha256) for at, leg in enumerate(legs)],
        [records.new_step(leg, number) for leg in legs for number in range(len(leg.plan))],
    )


def _apply_order(
    connection: Connection, who: str, run: str, order: Order, now: float, vault: Vault
) -> dict[str, str]:
    _, state = Decisions().load(connection, run)
    _check(run, order, unknown_parts(state, order))
    _check_gates(connection, state, order)
    found = _carried_out(connection, who, run, order, now, vault)
    names = [leg.id for leg in state.legs.values() if leg.system in found]
    row = {
        "run": run,
        "at": now,
        "who": who,
        "verb": order.verb,
        "legs": json.encode([] if order.is_about_run else names),
        "step": order.step,
        "reason": order.reason,
        "outcome": json.encode(found).decode(),
    }
    chain_runs.add_order(connection, row)
    audit.append(
        connection, who, f"chain.{order.verb}", {"run": run, "step": order.step, "why": order.reason}, now
    )
    return found


def _check_gates(connection: Connection, run: RunState, order: Order) -> None:
    """Refuse to begin again what was never approved."""
    ended = (chain_gates.REJECTED, chain_gates.EXPIRED)
    closed = {row["name"]: row["status"] for row in chain_gates.gate_rows(connection, run.id)}
    closed = {name: status for name, status in closed.items() if status in ended}
    if gate := closed_gate(run, order, closed):
        what = f"gate {gate!r} of {run.id} {_GATE_ENDS.get(closed.get(gate, ''), 'was not approved')}"
        fix = "start another run, and let another operator approve it"
        raise OperationError(Diagnostic(code="chain-gate", what=what, fix=fix))


_GATE_ENDS = {chain_gates.REJECTED: "was rejected", chain_gates.EXPIRED: "was not approved in time"}


def _carried_out(
    connection: Connection, who: str, run: str, order: Order, now: float, vault: Vault
) -> dict[str, str]:
    if order.inputs:
        chain_runs.lock_run(connection, run)
        row = chain_runs.run_row(connection, run)
        assert row is not None
        return revisions.propose(connection, who, row, order, now, vault)
    decided = Decisions().decide(
        connection, run, lambda one: events_of(one, order, now), hard=order.hard, reason=order.reason
    )
    return outcome(decided.before, decided.after, order)


def _check(run: str, order: Order, unknown: Sequence[str]) -> None:
    problems = [f"run {run} has no {one}" for one in unknown]
    if order.verb in ("skip", "done") and not order.step:
        problems.append(f"{order.verb} needs the action that it is about")
    if order.verb == "done" and not order.reason:
        problems.append("done needs a reason: how it is known that the action is done")
    if order.inputs and order.verb != "retry":
        problems.append(f"only retry takes other inputs, and this is {order.verb}")
    if problems:
        fix = "`saltern chain show` lists its systems, waves and actions"
        raise OperationError(*(Diagnostic(code="chain-order", what=what, fix=fix) for what in problems))
