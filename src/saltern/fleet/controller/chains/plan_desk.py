"""``PlanDesk``: makes plans of runs, shows them, and checks them before they are run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, json, to_builtins

from saltern.chains.document import read_chain
from saltern.chains.inputs import MASK
from saltern.fleet.chains.saved_plan import Present, SavedPlan, find_moves, refuse_moved
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.chains.compiler import Asked, Compiled, Permit, Seams, compile_for, lay_out
from saltern.fleet.controller.chains.plan_seal import Seal
from saltern.fleet.controller.chains.versions import Source, source_of
from saltern.fleet.controller.submission import LONGEST_EXPRESSION, Submission, Submitted
from saltern.fleet.store import audit, chain_plans
from saltern.fleet.store.database import Connection
from saltern.fleet.store.facts import facts_of
from saltern.language.diagnostics import Diagnostic, OperationError

FUNCTION = "chain.run"
WAIT = 300.0  # seconds that systems have for their dry run


class NewPlan(Asked, frozen=True, kw_only=True):
    """What to plan. ``pinned``: the systems stay the current ones; ``wait``: seconds for the dry run."""

    pinned: bool = False
    wait: float = WAIT


class Kept(Struct, frozen=True, kw_only=True):
    """A sealed plan."""

    id: str
    sha256: str
    plan: SavedPlan


class PlanDesk:
    """Makes plans and checks them. Problems are ``OperationError``, each with a code."""

    def __init__(self, calls: Calls, seams: Seams, seal: Seal, *, now: Callable[[], float]) -> None:
        self._calls = calls
        self._seams = seams
        self._seal = seal
        self._now = now

    async def make(self, who: str, ask: NewPlan, *, permit: Permit) -> str:
        """Begin the dry run on all systems; return the number of the plan."""
        found = await compile_for(self._calls, self._seams, ask)
        run = await lay_out(self._seams, ask.rollout, found.source.sha256, found.plans, self._now())
        tree = await self._seams.tree(ask.environment)
        job = await self._rehearse(who, ask, found, tree, permit)
        request = {
            "chain": found.source.name,
            "follows": ask.version is None,
            "pinned": ask.pinned,
            "inputs": found.shown_inputs,
            "rollout": to_builtins(ask.rollout),
            "environment": ask.environment,
            "tree": tree,
            "legs": {system: plan.sha256 for system, plan in found.plans.items()},
            "waves": [[run.legs[leg].system for leg in wave.legs] for wave in run.waves],
            "soaks": [wave.soak for wave in run.waves],
            "pillars": await self._seams.pillars(found.plans),
            "away": {system: since for system, since in job.away.items() if system not in job.expected},
        }
        row = {"id": job.jid, "target": ask.target, "author": who, "created": self._now()}
        await self._calls.write(_write_plan, found.source, row, request)
        self._seams.wake()
        return job.jid

    async def _rehearse(
        self, who: str, ask: NewPlan, found: Compiled, tree: str, permit: Permit
    ) -> Submitted:
        listed = f"L@{','.join(found.plans)}"
        chain, vault = found.chain, self._seams.vault
        arguments = await self._calls.read(vault.arguments, list(found.plans), chain.inputs, chain.values)
        submission = Submission(
            function=FUNCTION,
            target=listed if len(listed) <= LONGEST_EXPRESSION else ask.target,
            kwargs={"text": found.source.text, "file": found.source.file, **arguments},
            test=True,
            environment=ask.environment,
            tree=tree,
            life=ask.wait,
            wait=0,
        )
        try:
            return await self._seams.submit(who, submission, permit)
        except OperationError as problem:
            if problem.diagnostics[0].code != "fleet-all-away":
                raise
            what = f"all {len(found.plans)} systems of {ask.target!r} are away, so nothing can be planned"
            fix = "plan it when one of them is back; `saltern fleet systems` shows which are connected"
            raise OperationError(Diagnostic(code="chain-plan-away", what=what, fix=fix)) from None

    # -- plans that are kept -------------------------------------------------------------------------

    async def find(self, name: str) -> Kept:
        """A sealed plan by its digest, the beginning of it, or its number."""
        row = await self._calls.read(find_row, name)
        if not row["sha256"]:
            what = f"the plan {name} is not ready: its dry run is not over"
            fix = f"`saltern chain plan show {name}` shows it when it is"
            raise OperationError(Diagnostic(code="chain-plan-open", what=what, fix=fix))
        plan = self._seal.open_plan(row)
        return Kept(id=row["id"], sha256=row["sha256"], plan=plan)

    async def check(self, kept: Kept, secrets: Mapping[str, Any]) -> Compiled:
        """The plan compiled again; raises with all differences since it was made. A plan does not contain the
        ``secrets`` among its inputs."""
        plan = kept.plan
        named = await self._calls.read(_chain_of, kept.id)
        version = None if plan.follows else plan.version
        inputs = {name: value for name, value in plan.inputs.items() if value != MASK}
        _check_secrets(kept, set(plan.inputs) - set(inputs), secrets)
        ask = Asked(target=plan.target, chain=named, version=version, inputs={**inputs, **secrets})
        found = await self._compile(ask)
        present = Present(
            version=found.source.number,
            version_sha256=found.source.sha256,
            tree=await self._seams.tree(plan.environment),
            systems=frozenset(found.plans),
            facts=await self._calls.read(known_facts, list(plan.systems)),
            pillars=await self._seams.pillars(plan.pillars) if plan.pillars else {},
        )
        if problems := find_moves(plan, present):
            raise refuse_moved(kept.sha256, problems)
        return found

    async def _compile(self, ask: Asked) -> Compiled:
        """The plan compiled now; a target that no longer matches any system is also a difference."""
        try:
            return await compile_for(self._calls, self._seams, ask)
        except OperationError as problem:
            if problem.diagnostics[0].code not in ("fleet-target-empty", "chain-empty"):
                raise
            source = await self._calls.read(source_of, ask.chain, ask.version, "")
            return Compiled(source=source, chain=read_chain(source.text, source.file), plans={})


def _check_secrets(kept: Kept, needed: set[str], given: Mapping[str, Any]) -> None:
    """Refuse a run of a plan with inputs other than the secret ones, or without all of those."""
    problems = [f"the plan has its own {name!r}" for name in given if name not in needed]
    problems += [f"the secret input {name!r} is not kept in a plan" for name in needed if name not in given]
    if problems:
        fix = f"give the secret inputs, and no others, with `chain run --plan {kept.sha256[:12]} --input …`"
        raise OperationError(*(Diagnostic(code="chain-input", what=one, fix=fix) for one in problems))


def find_row(connection: Connection, name: str) -> chain_plans.Row:
    """The plan with this name; of equal ones, the newest. Raises if there is none, or more than one."""
    rows = chain_plans.plans_named(connection, name)
    if not rows:
        what, fix = f"there is no plan {name!r}", "`saltern chain plan list` lists them"
        raise OperationError(Diagnostic(code="chain-plan-unknown", what=what, fix=fix))
    if len({row["sha256"] for row in rows}) > 1:
        what = f"{name!r} is the beginning of several plans"
        raise OperationError(Diagnostic(code="chain-plan-unknown", what=what, fix="give more of its digest"))
    return rows[0]


def known_facts(connection: Connection, systems: list[str]) -> dict[str, dict[str, Any]]:
    """The facts of these systems that the controller knows."""
    return {system: json.decode(data) for system, (_, data) in facts_of(connection, systems).items()}


def _chain_of(connection: Connection, plan: str) -> str:
    return str(find_row(connection, plan)["chain"])


def _write_plan(connection: Connection, source: Source, row: dict[str, Any], request: dict[str, Any]) -> None:
    who, now = str(row["author"]), float(row["created"])
    chain, number = source.store(connection, who, now)
    body = json.encode({"request": {**request, "version_sha256": source.sha256}})
    chain_plans.add_plan(connection, {**row, "chain": chain, "version": number, "body": body})
    detail = {"plan": row["id"], "chain": source.name, "version": number, "target": row["target"]}
    audit.append(connection, who, "chain.plan", detail, now)
