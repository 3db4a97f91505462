"""A chain, its versions, a run of one on many systems: values that never change in place.

A *leg* is one system in one run. It has *steps*, and each step has *attempts*. Statuses and the moves between
them are the table in ``saltern.chains.statuses``, which the node's half also reads.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from saltern.chains.statuses import OVER, Leg, Run, Step, Wave
from saltern.fleet.chains.amounts import Amount

Failure = Literal["stop", "continue", "pause", "handler"]
Health = Literal["", "needed", "asked", "passed", "failed", "excused"]
Autonomy = Literal["full", "per_segment", "per_step"]
Verb = Literal["run", "pause", "cancel"]  # what a system should do with its leg


class Version(Struct, frozen=True, kw_only=True):
    """One text of a chain. A changed text is a new version; this one stays as it is."""

    chain: str
    number: int
    text: str
    sha256: str
    author: str = ""


class StepPlan(Struct, frozen=True, kw_only=True):
    """One action for one system; ``place`` is its position in the chain."""

    id: str
    kind: str = ""
    on_failure: Failure = "stop"
    final: bool = False  # a step for the end or for a failure: not done in turn
    handles: str = ""  # the step after whose failure it is done
    place: int = 0
    gate: str = ""  # what must be approved before it begins
    segment: int = 1
    expected: float = 0  # seconds that it takes, as far as that is known


class Attempt(Struct, frozen=True):
    """One try of a step."""

    number: int
    status: Step


class Boot(Struct, frozen=True):
    """A system booted in the middle of its leg; ``at`` by its own clock."""

    planned: bool
    at: float = 0.0


class StepState(Struct, frozen=True, kw_only=True):
    """What is known about a step. ``blocked_by`` names the step that keeps it from running."""

    status: Step = Step.NOT_RUN
    blocked_by: str = ""
    attempts: tuple[Attempt, ...] = ()
    changed: bool = False
    comment: str = ""
    took: float = 0
    started: float | None = None
    ended: float | None = None
    note: str = ""  # a note that tables show beside it
    exit_code: int | None = None


class LegState(Struct, frozen=True, kw_only=True):
    """One system in a run. ``away`` is separate from the status: silence is not a failure.

    ``sent`` is the last order, and ``order`` its number: the highest counts, on both sides. ``seq`` is
    that of the newest report. ``until``: the last step that it may do; empty: all of them.

    ``back_by``: when a system that has gone down for a reboot or an update must be back; 0: it is not down.
    ``usual_return``: seconds in which it is usually back, from earlier reboots. ``lost``: it was not back by
    then, or was given up: the leg counts as expired, and its result still corrects that.
    """

    id: str
    system: str
    wave: int
    plan: tuple[StepPlan, ...]
    status: Leg = Leg.PENDING
    away: bool = False
    held: bool = False
    shut: str = ""  # why its system has no open window now
    ending: Literal["", "operator", "deadline", "window"] = ""  # who asked for its early end
    sent: Verb | None = None
    order: int = 0
    seq: int = -1
    answered: int = -1  # the report that an operator has answered
    begun: float = 0
    steps: tuple[StepState, ...] = ()
    group: str = ""
    until: str = ""
    again: str = ""  # how it is resumed: the order that starts it again
    again_step: str = ""
    again_from: Leg | None = None  # how it had ended
    renewed: int = 0  # the operator's order by which it last continued; older reports are outdated
    waits_for: str = ""
    quarantined: bool = False
    away_since: float = 0
    back_by: float = 0
    usual_return: float = 3600
    lost: bool = False
    boot: str = ""  # the boot that it was last seen under, and the build of its agent
    build: str = ""
    boots: tuple[Boot, ...] = ()
    window_until: float = 0  # when the window that is open for it ends; 0: it has no end
    leased: float = 0  # the end in its last order
    unfit: str = ""  # why the rest of its window is too short for its next step
    tries: int = 0  # how often it was retried without an operator
    not_before: float = 0

    @property
    def is_over(self) -> bool:
        return self.status in OVER

    @property
    def is_in_flight(self) -> bool:
        """True if its system may be working on it."""
        return self.sent is not None and not self.is_over


class WaveState(Struct, frozen=True, kw_only=True):
    """Legs that begin together. ``soak_until``: the next wave begins at this time at the earliest;
    ``soak``: seconds that it waits. ``gate``: what must be approved before it begins. ``health``: the
    result of the health check after the soak; empty: there is no check.
    """

    number: int
    legs: tuple[str, ...]
    status: Wave = Wave.PENDING
    soak_until: float = 0
    stage: str = ""
    soak: float = 0
    gate: str = ""
    health: Health = ""
    check: str = ""  # the job that checks its systems


class HealthCheck(Struct, frozen=True, kw_only=True):
    """A command that checks the health of systems after their wave. The run halts when it fails on strictly
    more than ``max_failures`` of those that have ended well; ``timeout``: seconds that they have for it.
    ``check``: one of the controller's own, which runs there, in place of a command."""

    command: str = ""
    check: str = ""
    max_failures: Amount = Amount(0)
    timeout: float = 60


class RetryLegs(Struct, frozen=True, kw_only=True):
    """Legs that ended in one of these ways are started again, at most ``times`` times: after ``wait``
    seconds, and each time ``backoff`` times as long as before.
    """

    times: int
    wait: float = 60
    backoff: float = 2
    on: tuple[str, ...] = ("failed", "timed out", "unreachable")


class Strategy(Struct, frozen=True, kw_only=True):
    """How a run goes through its systems. Times are seconds.

    ``max_failures``: the run halts when failed legs are strictly more than this, of those that have begun.
    ``leg_time``: what one system may take. ``grace``: how long a system may be past its deadline.
    ``max_unavailable``: at most this many systems of one group work at a time. ``quorum``: a wave is over
    when this many of its legs have succeeded, whatever happens to the rest. ``lockstep``: all legs of a wave
    finish a step before any of them begins the next. ``autonomy``: how far a system continues without contact
    with its controller. ``outside_window``: what happens to a leg whose window is over. ``reachable``: this
    many systems must be connected when the run begins.
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
    autonomy: Autonomy = "full"
    outside_window: Literal["wait", "fail"] = "wait"
    reachable: Amount | None = None
    retry: RetryLegs | None = None


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
    waits: str = ""  # why it has not begun
