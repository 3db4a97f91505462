"""A chain, its versions, a run of one on many systems: values that never change in place.

A *leg* is one system in one run. It has *steps*, and each step has *attempts*. Statuses and the moves between
them are the table in ``saltern.chains.statuses``, which the node's half reads, too.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from saltern.chains.statuses import OVER, Leg, Run, Step, Wave
from saltern.fleet.chains.amounts import Amount

Failure = Literal["stop", "continue", "pause"]
Health = Literal["", "needed", "asked", "passed", "failed", "excused"]
Verb = Literal["run", "pause", "cancel"]  # what a system is to do with its leg


class Version(Struct, frozen=True, kw_only=True):
    """One text of a chain. A changed text is a new version; this one stays as it is."""

    chain: str
    number: int
    text: str
    sha256: str
    author: str = ""


class StepPlan(Struct, frozen=True, kw_only=True):
    """One action, as one system is to do it; ``place`` is its place in the chain."""

    id: str
    kind: str = ""
    on_failure: Failure = "stop"
    final: bool = False  # one of the end: done whatever came before
    place: int = 0
    gate: str = ""  # what must be approved before it begins


class Attempt(Struct, frozen=True):
    """One try of a step."""

    number: int
    status: Step


class StepState(Struct, frozen=True, kw_only=True):
    """What is known of a step. ``blocked_by`` names the step that keeps it from running."""

    status: Step = Step.NOT_RUN
    blocked_by: str = ""
    attempts: tuple[Attempt, ...] = ()
    changed: bool = False
    comment: str = ""
    took: float = 0
    started: float | None = None
    ended: float | None = None


class LegState(Struct, frozen=True, kw_only=True):
    """One system in a run. ``away`` lies over the status: silence is no failure.

    ``sent`` is the last order, and ``order`` its number: the higher one counts, on both sides. ``seq`` is
    that of the newest report. ``until``: the last step that it may do; empty: all of them.
    """

    id: str
    system: str
    wave: int
    plan: tuple[StepPlan, ...]
    status: Leg = Leg.PENDING
    away: bool = False
    held: bool = False
    shut: str = ""  # why its system has no open window now
    ending: Literal["", "operator", "deadline"] = ""  # who wants it to end before it is done
    sent: Verb | None = None
    order: int = 0
    seq: int = -1
    answered: int = -1  # the report that an operator has answered
    begun: float = 0
    steps: tuple[StepState, ...] = ()
    group: str = ""
    until: str = ""
    again: str = ""  # how it is taken up again: the order that begins it
    again_step: str = ""
    again_from: Leg | None = None  # how it had ended
    renewed: int = 0  # the order of an operator that it last continued by; what is older is outdated
    waits_for: str = ""
    quarantined: bool = False

    @property
    def is_over(self) -> bool:
        return self.status in OVER

    @property
    def is_in_flight(self) -> bool:
        """Whether its system may be working on it."""
        return self.sent is not None and not self.is_over


class WaveState(Struct, frozen=True, kw_only=True):
    """Legs that begin together. ``soak_until``: the next wave begins at this time at the earliest;
    ``soak``: seconds that it waits. ``gate``: what must be approved before it begins. ``health``: whether its
    systems are well, as it is known by a check after the soak; empty: there is no check.
    """

    number: int
    legs: tuple[str, ...]
    status: Wave = Wave.PENDING
    soak_until: float = 0
    stage: str = ""
    soak: float = 0
    gate: str = ""
    health: Health = ""
    check: str = ""  # the job that looks at its systems


class HealthCheck(Struct, frozen=True, kw_only=True):
    """A command that looks whether systems are well after their wave. The run halts when it fails on strictly
    more than ``max_failures`` of those that have ended well; ``timeout``: seconds that they have for it."""

    command: str
    max_failures: Amount = Amount(0)
    timeout: float = 60


class Strategy(Struct, frozen=True, kw_only=True):
    """How a run goes through its systems. Times are seconds.

    ``max_failures``: the run halts when failed legs are strictly more than this, of those that have begun.
    ``leg_time``: what one system may take. ``grace``: how long a system that is over its time is waited for.
    ``max_unavailable``: at most so many systems of one group are worked on at a time. ``quorum``: a wave is
    over when so many of its legs have ended well, whatever becomes of the rest. ``lockstep``: all legs of a
    wave finish a step before one of them begins the next.
    """

    waves: tuple[int | str, ...] = ()
    max_in_flight: Amount | None = None
    max_failures: Amount | None = None
    count_away: bool = False  # a system that is away is a failure
    on_halt: Literal["finish", "pause"] = "finish"
    soak: float = 0
    leg_time: float | None = None
    grace: float = 600
    max_unavailable: Amount | None = None
    quorum: Amount | None = None
    lockstep: bool = False
    health: HealthCheck | None = None


class RunState(Struct, frozen=True, kw_only=True):
    """A chain on all its systems. ``excused`` are failed legs that an operator has looked at."""

    id: str
    version: str
    strategy: Strategy
    deadline: float
    legs: dict[str, LegState]
    waves: tuple[WaveState, ...]
    status: Run = Run.SCHEDULED
    now: float = 0
    cancelled: bool = False
    halted: str = ""  # why
    excused: frozenset[str] = frozenset()
    gate: str = ""  # what must be approved before it begins
    opened: frozenset[str] = frozenset()  # gates that were approved
