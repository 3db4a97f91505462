"""Waves: one after another, each when the one before is over and has soaked."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from saltern.chains.statuses import ENDED_WELL, ENDS, Run, Wave, check_move
from saltern.fleet.chains.model import RunState, WaveState

HEALTHY = ("", "passed", "excused")


def move_waves(run: RunState) -> tuple[RunState, list[Any]]:
    """Close waves whose legs are over; open the next one if the run may begin new legs."""
    if run.status in (Run.DRAFT, Run.AWAITING_APPROVAL, Run.SCHEDULED) or run.status in ENDS:
        return run, []
    waves: list[WaveState] = []
    for wave in run.waves:
        before_over = not waves or waves[-1].status is Wave.OVER
        waves.append(_move_wave(run, wave, before_over))
    found = tuple(waves)
    return (replace(run, waves=found), []) if found != run.waves else (run, [])


def _move_wave(run: RunState, wave: WaveState, before_over: bool) -> WaveState:
    """The wave with its current status; it may pass through more than one status at once."""
    while (status := _next_status(run, wave, before_over)) is not wave.status:
        check_move(wave.status, status)
        until = run.now + wave.soak if status is Wave.SOAKING else wave.soak_until
        wave = replace(wave, status=status, soak_until=until)
    return wave


def _next_status(run: RunState, wave: WaveState, before_over: bool) -> Wave:
    done = all(run.legs[name].is_over for name in wave.legs) or _has_quorum(run, wave)
    last = wave.number == len(run.waves) - 1
    if wave.status is Wave.PENDING and before_over:
        if done:
            return Wave.OVER
        waits = wave.gate and wave.gate not in run.opened
        return Wave.RUNNING if run.status is Run.RUNNING and not waits else Wave.PENDING
    if wave.status is Wave.RUNNING and done:
        return Wave.SOAKING if (wave.soak and not last) or wave.health else Wave.OVER
    if wave.status is Wave.SOAKING and run.now >= wave.soak_until:
        return Wave.OVER if wave.health in HEALTHY else Wave.SOAKING
    return wave.status


def ask_for_health(run: RunState) -> tuple[RunState, list[Any]]:
    """Order the health check of each wave that has soaked; a wave in which no system succeeded passes."""
    if run.status is not Run.RUNNING:
        return run, []
    found = tuple(_ask_health(run, wave) if _is_due(run, wave) else wave for wave in run.waves)
    return (replace(run, waves=found), []) if found != run.waves else (run, [])


def _is_due(run: RunState, wave: WaveState) -> bool:
    return wave.status is Wave.SOAKING and wave.health == "needed" and run.now >= wave.soak_until


def _ask_health(run: RunState, wave: WaveState) -> WaveState:
    return replace(wave, health="asked" if systems_to_check(run, wave) else "passed")


def systems_to_check(run: RunState, wave: WaveState) -> list[str]:
    """The systems of legs that have succeeded; the others are known to be unhealthy."""
    legs = (run.legs[name] for name in wave.legs)
    return [leg.system for leg in legs if leg.status in ENDED_WELL]


def is_checked(run: RunState) -> bool:
    """True if no wave waits for its health check."""
    open_ = (one for one in run.waves if one.status is Wave.SOAKING and one.health in ("needed", "asked"))
    return run.status is not Run.RUNNING or not any(open_)


def _has_quorum(run: RunState, wave: WaveState) -> bool:
    """True if enough legs have succeeded that the wave need not wait for the rest."""
    if run.strategy.quorum is None:
        return False
    well = sum(run.legs[name].status in ENDED_WELL for name in wave.legs)
    return well >= max(1, run.strategy.quorum.of(len(wave.legs)))
