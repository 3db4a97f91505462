"""The rollout of a run as users write it, checked and turned into waves. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from saltern.fleet.chains.amounts import Amount, read_amount, split_waves
from saltern.fleet.chains.model import (
    Autonomy,
    HealthCheck,
    LegState,
    RetryLegs,
    RunState,
    StepPlan,
    StepState,
    Strategy,
    WaveState,
)
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean

Share = int | str
TEXT = r"^[^\x00]*$"  # PostgreSQL stores no NUL in a text
Seconds = Annotated[float, Meta(ge=0, le=366 * 86_400.0)]
DAY = 86_400.0
Ended = Literal["failed", "timed out", "indeterminate", "unreachable"]


class GateAsk(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``needed`` persons approve, of a group if ``of`` names one, within ``life`` seconds; ``otherwise`` is
    what happens if they do not."""

    needed: Annotated[int, Meta(ge=1, le=100)] = 1
    of: Annotated[str, Meta(max_length=200, pattern=TEXT)] = ""
    life: Annotated[float, Meta(gt=0, le=366 * 86_400.0)] = DAY
    otherwise: Literal["reject", "approve"] = "reject"


class StepGateAsk(GateAsk, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A gate before an action: one for the run, for each wave, or for each leg."""

    action: Annotated[str, Meta(min_length=1, max_length=200, pattern=TEXT)]
    per: Literal["run", "wave", "leg"] = "run"

    def name(self, system: str, wave: int) -> str:
        """The name of the gate for a system of a wave (from 0 on)."""
        where = {"run": "", "wave": f"wave {wave + 1} ", "leg": f"{system} "}[self.per]
        return f"{where}step {self.action}"


class HealthAsk(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A command that runs after each wave on the systems that succeeded: exit code 0 means healthy. The run
    halts when it fails on strictly more than ``max_failures`` of them. ``check``: instead, the name of a
    command in the controller's configuration, which runs once on the controller."""

    command: Annotated[str, Meta(max_length=10_000, pattern=TEXT)] = ""
    check: Annotated[str, Meta(max_length=100, pattern=TEXT)] = ""
    max_failures: Share = 0
    timeout: Annotated[float, Meta(ge=1, le=3600)] = 60


class RetryAsk(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Legs that have not succeeded are started again without an operator, at most ``times`` times: after
    ``wait`` seconds, and each time ``backoff`` times as long as before."""

    times: Annotated[int, Meta(ge=1, le=100)]
    wait: Seconds = 60
    backoff: Annotated[float, Meta(ge=1, le=100)] = 2
    on: Annotated[tuple[Ended, ...], Meta(min_length=1)] = ("failed", "timed out", "unreachable")


class StageAsk(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The systems of a target: all systems of a stage are done before the next stage begins."""

    name: Annotated[str, Meta(min_length=1, max_length=100, pattern=TEXT)]
    target: str
    waves: list[Share] = []
    soak: Seconds | None = None
    gate: GateAsk | None = None


class Rollout(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a run goes through its systems; amounts are numbers or percentages such as ``"10%"``.

    ``canary``: this many systems first, then the rest; short for waves. ``group_by``: the grain by which
    systems are grouped for ``max_unavailable``. ``deadline``: seconds that the whole run may take.
    ``order``: the order in which systems begin, if not that of the target. ``reachable``: the run begins when
    this many of its systems are connected. ``autonomy``: how far a system continues without contact with its
    controller. ``outside_window``: what happens to a system that has begun and whose window is over, or too
    short for its next action. ``retry``: which systems are retried without an operator.
    """

    waves: list[Share] = []
    canary: Share | None = None
    max_in_flight: Share | None = None
    max_failures: Share | None = None
    max_unavailable: Share | None = None
    group_by: Annotated[str, Meta(max_length=200)] = ""
    quorum: Share | None = None
    count_away: bool = False
    on_halt: Literal["finish", "pause"] = "finish"
    soak: Seconds = 0
    leg_time: Seconds | None = None
    deadline: Annotated[float, Meta(gt=0, le=30 * 86_400.0)] = DAY
    grace: Seconds = 600
    lockstep: bool = False
    stages: list[StageAsk] = []
    gate: GateAsk | None = None
    wave_gate: GateAsk | None = None
    health: HealthAsk | None = None
    step_gates: list[StepGateAsk] = []
    order: Literal["", "name", "reverse", "random"] = ""
    reachable: Share | None = None
    autonomy: Autonomy = "full"
    outside_window: Literal["wait", "fail"] = "wait"
    retry: RetryAsk | None = None


class Stage(Struct, frozen=True, kw_only=True):
    """A stage with the systems that its target matches."""

    name: str
    systems: tuple[str, ...]
    waves: tuple[Share, ...] = ()
    soak: float = 0
    gate: str = ""


def strategy_of(ask: Rollout) -> Strategy:
    """The strategy for the rules; raises if an amount is invalid."""
    if ask.canary is not None and ask.waves:
        what = "a rollout has either a canary or waves"
        raise OperationError(Diagnostic(code="chain-amount", what=what, fix="write the canary as first wave"))
    waves = tuple(ask.waves) if ask.canary is None else (ask.canary, "rest")
    return Strategy(
        waves=waves,
        max_in_flight=_amount(ask.max_in_flight),
        max_failures=_amount(ask.max_failures),
        max_unavailable=_amount(ask.max_unavailable),
        quorum=_amount(ask.quorum),
        count_away=ask.count_away,
        on_halt=ask.on_halt,
        soak=ask.soak,
        leg_time=ask.leg_time,
        grace=ask.grace,
        lockstep=ask.lockstep,
        health=_health(ask.health),
        autonomy=ask.autonomy,
        outside_window=ask.outside_window,
        reachable=_amount(ask.reachable),
        retry=_retry(ask.retry),
    )


def _retry(ask: RetryAsk | None) -> RetryLegs | None:
    if ask is None:
        return None
    return RetryLegs(times=ask.times, wait=ask.wait, backoff=ask.backoff, on=ask.on)


def _health(ask: HealthAsk | None) -> HealthCheck | None:
    if ask is None:
        return None
    if bool(ask.command) is bool(ask.check):
        what = "a health check is either a command for the systems, or a check of the controller"
        fix = "give `command` or `check`"
        raise OperationError(Diagnostic(code="chain-health", what=what, fix=fix))
    limit = read_amount(ask.max_failures)
    return HealthCheck(command=ask.command, check=ask.check, max_failures=limit, timeout=ask.timeout)


def _amount(value: Share | None) -> Amount | None:
    return None if value is None else read_amount(value)


def gates_of(ask: Rollout, run: RunState) -> dict[str, GateAsk]:
    """Every gate of a run by name: ``run``, ``wave 2``, ``stage NAME``, ``step ACTION``."""
    waves = run.waves
    gates = {"run": ask.gate} if ask.gate is not None else {}
    stages = {f"stage {one.name}": one.gate for one in ask.stages if one.gate is not None}
    if ask.wave_gate is not None:
        gates |= {one.gate: ask.wave_gate for one in waves if one.gate and one.gate not in stages}
    steps = {
        gate.name(leg.system, leg.wave): gate
        for gate in ask.step_gates
        for leg in run.legs.values()
        if any(step.id == gate.action for step in leg.plan)
    }
    return {**gates, **stages, **steps}


def _add_gates(plan: tuple[StepPlan, ...], ask: Rollout, system: str, wave: int) -> tuple[StepPlan, ...]:
    """The steps with their gates; steps of the end have none: they are done in any case."""
    named = {gate.action: gate.name(system, wave) for gate in ask.step_gates}
    return tuple(replace(one, gate="" if one.final else named.get(one.id, "")) for one in plan)


def _check_step_gates(ask: Rollout, plans: Mapping[str, tuple[StepPlan, ...]]) -> None:
    known = {step.id for plan in plans.values() for step in plan if not step.final}
    asked = [gate.action for gate in ask.step_gates]
    if wrong := [one for one in asked if one not in known or asked.count(one) > 1]:
        what = f"a gate before {wrong[0]!r} is asked for " + ("twice" if wrong[0] in known else "in vain")
        fix = did_you_mean(wrong[0], known) or f"actions are {', '.join(sorted(known))}; each has one gate"
        raise OperationError(Diagnostic(code="chain-gate", what=what, fix=fix))


def make_stages(
    ask: Rollout, systems: Sequence[str], meant: Mapping[str, Sequence[str]]
) -> tuple[Stage, ...]:
    """The stages with their systems, each system in the first stage that matches it.

    Systems that no stage matches are an error: they would silently be left out.
    """
    left = dict.fromkeys(systems)
    found: list[Stage] = []
    for one in ask.stages:
        mine = tuple(system for system in meant[one.name] if system in left)
        for system in mine:
            del left[system]
        soak = ask.soak if one.soak is None else one.soak
        gate = f"stage {one.name}" if one.gate is not None else ""
        found.append(Stage(name=one.name, systems=mine, waves=tuple(one.waves), soak=soak, gate=gate))
    if ask.stages and left:
        what = f"no stage matches {', '.join(list(left)[:5])}"
        fix = "add a stage with the target '*' for the rest, or choose fewer systems"
        raise OperationError(Diagnostic(code="chain-stage", what=what, fix=fix))
    return tuple(one for one in found if one.systems)


def make_run(
    name: str,
    version: str,
    plans: Mapping[str, tuple[StepPlan, ...]],
    ask: Rollout,
    *,
    now: float,
    stages: Sequence[Stage] = (),
    groups: Mapping[str, str] | None = None,
) -> RunState:
    """A run over the systems of ``plans``, in their order."""
    strategy = strategy_of(ask)
    _check_step_gates(ask, plans)
    plans = {system: plans[system] for system in order_systems(list(plans), ask.order, name)}
    stages = [replace(one, systems=tuple(order_systems(one.systems, ask.order, name))) for one in stages]
    waves = _waves(name, list(plans), strategy, stages, gated=ask.wave_gate is not None)
    of_wave = {leg: wave.number for wave in waves for leg in wave.legs}
    legs = [
        LegState(
            id=f"{name}.{system}",
            system=system,
            wave=of_wave[f"{name}.{system}"],
            plan=_add_gates(plan, ask, system, of_wave[f"{name}.{system}"]),
            steps=tuple(StepState() for _ in plan),
            group=(groups or {}).get(system, ""),
        )
        for system, plan in plans.items()
    ]
    return RunState(
        id=name,
        version=version,
        strategy=strategy,
        deadline=now + ask.deadline,
        legs={leg.id: leg for leg in legs},
        waves=waves,
        now=now,
        gate="run" if ask.gate is not None else "",
    )


def order_systems(systems: Sequence[str], order: str, seed: str) -> list[str]:
    """The systems in the order in which they begin; a random order is seeded by the run."""
    if order == "random":
        return sorted(systems, key=lambda one: sha256(f"{seed} {one}".encode()).digest())
    return sorted(systems, reverse=order == "reverse") if order else list(systems)


def _waves(
    name: str, systems: Sequence[str], strategy: Strategy, stages: Sequence[Stage], *, gated: bool
) -> tuple[WaveState, ...]:
    whole = Stage(name="", systems=tuple(systems), waves=strategy.waves, soak=strategy.soak)
    found: list[WaveState] = []
    for stage in stages or (whole,):
        for part, some in enumerate(split_waves(stage.systems, stage.waves or strategy.waves)):
            number = len(found)
            own = stage.gate if part == 0 else ""
            found.append(
                WaveState(
                    number=number,
                    legs=tuple(f"{name}.{system}" for system in some),
                    stage=stage.name,
                    soak=stage.soak,
                    gate=own or (f"wave {number + 1}" if gated and number else ""),
                    health="needed" if strategy.health is not None else "",
                )
            )
    return tuple(found)
