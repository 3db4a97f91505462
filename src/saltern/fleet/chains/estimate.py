"""How long a chain may take, estimated from earlier runs of its actions. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heapreplace
from math import ceil

from msgspec import Struct


class Took(Struct, frozen=True, kw_only=True):
    """Half took at most ``p50`` seconds, 95 of 100 at most ``p95``; ``of`` is the number of samples."""

    p50: float
    p95: float
    of: int


class Estimate(Struct, frozen=True, kw_only=True):
    """The estimate for each action, and for the whole run with its waves and the pauses between them.

    ``unknown``: actions that have no history; they count as if they took no time.
    """

    actions: dict[str, Took]
    run: Took | None
    unknown: list[str]


USUAL_RETURN = 3600.0  # seconds in which a machine must be back from a reboot, if nothing is known about it
LEAST_RETURN = 600.0
OWN, OTHERS = 3, 10  # reboots that must have been seen, of the system or of the others
NEWEST = 20
SLOWER = 3  # a system may take this many times the longest before it is given up


def usual_returns(times: Mapping[str, Sequence[float]], systems: Sequence[str]) -> dict[str, float]:
    """In how many seconds each system must be back from a reboot: three times the longest of its last ones,
    from ten minutes to an hour. For a system with too few samples, the times of the others count."""
    every = [one for own in times.values() for one in own[:NEWEST]]
    others = _return_limit(every) if len(every) >= OTHERS else USUAL_RETURN
    return {
        system: _return_limit(own[:NEWEST]) if len(own := times.get(system, ())) >= OWN else others
        for system in systems
    }


def _return_limit(seconds: Sequence[float]) -> float:
    return min(USUAL_RETURN, max(LEAST_RETURN, round(SLOWER * max(seconds))))


def expected_times(history: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Seconds within which each action ends 95 of 100 times; only actions with enough samples."""
    return {action: took(seconds).p95 for action, seconds in history.items() if len(seconds) >= OWN}


def took(seconds: Sequence[float]) -> Took:
    """The percentiles by nearest rank: both are real samples."""
    found = sorted(seconds)
    return Took(p50=_rank(found, 50), p95=_rank(found, 95), of=len(found))


def _rank(found: Sequence[float], percent: int) -> float:
    return round(found[max(0, ceil(len(found) * percent / 100) - 1)], 3)


def estimate(
    history: Mapping[str, Sequence[float]],
    legs: Mapping[str, Sequence[str]],
    waves: Sequence[Sequence[str]],
    soaks: Sequence[float],
    at_once: int,
) -> Estimate:
    """``legs``: the actions of each system; ``waves``: systems that begin together; ``soaks``: the seconds
    after each wave; ``at_once``: systems that work at the same time."""
    wanted = dict.fromkeys(action for actions in legs.values() for action in actions)
    known = {action: took(history[action]) for action in wanted if history.get(action)}
    unknown = [action for action in wanted if action not in known]
    if not known:
        return Estimate(actions={}, run=None, unknown=unknown)
    middle, most = (
        _run_time(_leg_times(legs, known, which), waves, soaks, at_once) for which in ("p50", "p95")
    )
    seen = min(one.of for one in known.values())
    return Estimate(actions=known, run=Took(p50=middle, p95=most, of=seen), unknown=unknown)


def _leg_times(legs: Mapping[str, Sequence[str]], known: Mapping[str, Took], which: str) -> dict[str, float]:
    seconds = {action: float(getattr(one, which)) for action, one in known.items()}
    return {system: sum(seconds.get(action, 0) for action in own) for system, own in legs.items()}


def _run_time(
    legs: Mapping[str, float], waves: Sequence[Sequence[str]], soaks: Sequence[float], at_once: int
) -> float:
    """The sum of all waves, each as long as its systems take; the last wave does not soak."""
    times = [_wave_time([legs[system] for system in wave if system in legs], at_once) for wave in waves]
    return round(sum(times) + sum(soaks[: max(0, len(waves) - 1)]), 3)


def _wave_time(legs: Sequence[float], at_once: int) -> float:
    """The time of one wave: systems begin in their order, each as soon as there is room."""
    ends = [0.0] * max(1, min(at_once, len(legs)))
    heapify(ends)
    for seconds in legs:
        heapreplace(ends, ends[0] + seconds)
    return max(ends)
