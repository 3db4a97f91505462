"""Versions of a chain, and a run of one: what is stored before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from saltern.fleet.chains.amounts import split_waves
from saltern.fleet.chains.model import (
    LegState,
    RunState,
    StepPlan,
    StepState,
    Strategy,
    Version,
    WaveState,
)
from saltern.language.diagnostics import Diagnostic, OperationError


def next_version(chain: str, last: Version | None, text: str, author: str = "") -> Version:
    """The version with this text: the last one if nothing has changed, else a new one."""
    digest = sha256(text.encode()).hexdigest()
    if last is not None and last.sha256 == digest:
        return last
    number = last.number + 1 if last is not None else 1
    return Version(chain=chain, number=number, text=text, sha256=digest, author=author)


def new_run(
    name: str,
    version: str,
    plans: Mapping[str, tuple[StepPlan, ...]],
    strategy: Strategy,
    deadline: float,
) -> RunState:
    """A run over the systems of ``plans``, in their order. A system without a step takes no part."""
    systems = [system for system, plan in plans.items() if plan]
    if not systems:
        what = "no action of the chain is for a system of the target"
        fix = "`saltern chain check FILE --system NAME` shows what a system gets"
        raise OperationError(Diagnostic(code="chain-empty", what=what, fix=fix))
    waves = tuple(
        WaveState(number=number, legs=tuple(f"{name}.{system}" for system in part), soak=strategy.soak)
        for number, part in enumerate(split_waves(systems, strategy.waves))
    )
    of_wave = {leg: wave.number for wave in waves for leg in wave.legs}
    legs = [_new_leg(f"{name}.{system}", system, of_wave, plans[system]) for system in systems]
    return RunState(
        id=name,
        version=version,
        strategy=strategy,
        deadline=deadline,
        legs={leg.id: leg for leg in legs},
        waves=waves,
    )


def _new_leg(name: str, system: str, of_wave: Mapping[str, int], plan: tuple[StepPlan, ...]) -> LegState:
    return LegState(
        id=name, system=system, wave=of_wave[name], plan=plan, steps=tuple(StepState() for _ in plan)
    )
