"""Every status of a step, a leg and a run, and every move between two of them.

The tables are complete: a move that is not listed is a bug in saltern, which is reported and never made. Docs
and tests read the same tables. They include the statuses that only a controller sets, so that both sides use
the same ones.
"""

from __future__ import annotations

from collections.abc import Set
from enum import Enum

from msgspec import Struct


class Step(Enum):
    """One action on one system."""

    NOT_RUN = "not run"
    WAITING = "waiting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed out"
    INDETERMINATE = "indeterminate"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


class Leg(Enum):
    """One system in one run of a chain."""

    PENDING = "pending"
    QUEUED = "queued"
    DELIVERED = "delivered"
    RUNNING = "running"
    REBOOTING = "rebooting"
    UPDATING = "updating"
    WAITING = "waiting"
    PAUSED = "paused"
    SUCCEEDED = "succeeded"
    SUCCEEDED_WITH_SKIPS = "succeeded with skips"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    INDETERMINATE = "indeterminate"


class Wave(Enum):
    """Legs of one run that begin together."""

    PENDING = "pending"
    RUNNING = "running"
    SOAKING = "soaking"
    OVER = "over"


class Run(Enum):
    """A chain on all its systems."""

    DRAFT = "draft"
    AWAITING_APPROVAL = "awaiting approval"
    SCHEDULED = "scheduled"
    RUNNING = "running"
    PAUSED = "paused"
    HALTED = "halted"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Overlay(Enum):
    """The status to show in place of that of a leg if its process is gone or its system is away."""

    BROKEN = "broken"
    UNREACHABLE = "unreachable"


OVERLAYS: dict[Overlay, str] = {
    Overlay.BROKEN: "no process runs it, although one should; `saltern chain resume` continues it",
    Overlay.UNREACHABLE: "its system is away; its reports so far stay valid, and it may continue there",
}
Status = Step | Leg | Wave | Run


class Row(Struct, frozen=True):
    """The meaning of a status, and the statuses that may follow it."""

    status: Status
    means: str
    to: tuple[Status, ...] = ()


_REDO = (
    Step.NOT_RUN,
    Step.SKIPPED,
    Step.SUCCEEDED,
)  # what an operator may declare a step that did not succeed
_OVER = (
    Leg.SUCCEEDED,
    Leg.SUCCEEDED_WITH_SKIPS,
    Leg.FAILED,
    Leg.CANCELLED,
    Leg.EXPIRED,
    Leg.INDETERMINATE,
)
_REOPEN = (Leg.PAUSED, Leg.PENDING)  # a retry, a skip: on its system, and at its controller
_ENDS = (Run.SUCCEEDED, Run.PARTIAL, Run.FAILED, Run.CANCELLED, Run.EXPIRED)


def _correctable_statuses(end: Run) -> tuple[Status, ...]:
    """The statuses that a late result may give to a run that is over."""
    return tuple(one for one in _ENDS if one is not end)


ROWS: tuple[Row, ...] = (
    Row(
        Step.NOT_RUN,
        "it has not run; the reason is given",
        (Step.WAITING, Step.RUNNING, Step.SKIPPED, Step.SUCCEEDED, Step.CANCELLED),
    ),
    Row(
        Step.WAITING,
        "it waits for a gate, a window or an approval",
        (Step.RUNNING, Step.SKIPPED, Step.CANCELLED, Step.TIMED_OUT),
    ),
    Row(
        Step.RUNNING,
        "it was begun; for a reboot: the machine is going down, or is down",
        (
            Step.SUCCEEDED,
            Step.FAILED,
            Step.TIMED_OUT,
            Step.INDETERMINATE,
            Step.SKIPPED,
            Step.CANCELLED,
        ),
    ),
    Row(Step.SUCCEEDED, "it is done, with or without changes, or an operator has declared it done"),
    Row(Step.FAILED, "it was run, but did not succeed", _REDO),
    Row(Step.TIMED_OUT, "it was run, and was stopped when its time was over", _REDO),
    Row(Step.INDETERMINATE, "it was begun, but how far it got is unknown", _REDO),
    Row(Step.SKIPPED, "it was not needed, or an operator has skipped it"),
    Row(
        Step.CANCELLED,
        "the leg was cancelled before it began; or before it ended, if it may be repeated",
        _REDO,
    ),
    Row(
        Leg.PENDING,
        "the plan is recorded; nothing was begun, or it will be resumed",
        (Leg.QUEUED, Leg.DELIVERED, Leg.RUNNING, Leg.CANCELLED, Leg.EXPIRED),
    ),
    Row(Leg.QUEUED, "another leg uses this system", (Leg.DELIVERED, Leg.RUNNING, Leg.CANCELLED, Leg.EXPIRED)),
    Row(Leg.DELIVERED, "the system has received the plan", (Leg.RUNNING, Leg.CANCELLED, Leg.EXPIRED)),
    Row(
        Leg.RUNNING,
        "a step runs, or the next one is about to",
        (Leg.REBOOTING, Leg.UPDATING, Leg.WAITING, Leg.PAUSED, *_OVER),
    ),
    Row(Leg.REBOOTING, "a reboot was requested, but is not proven yet", (Leg.RUNNING, *_OVER[2:])),
    Row(Leg.UPDATING, "saltern itself is being replaced", (Leg.RUNNING, *_OVER[2:])),
    Row(Leg.WAITING, "the next step waits for a gate or a window", (Leg.RUNNING, Leg.PAUSED, *_OVER[2:])),
    Row(Leg.PAUSED, "it waits for an operator to resume it", (Leg.RUNNING, *_OVER)),
    Row(Leg.SUCCEEDED, "every step succeeded"),
    Row(Leg.SUCCEEDED_WITH_SKIPS, "every step succeeded or was skipped"),
    Row(Leg.FAILED, "a step failed or timed out", _REOPEN),
    Row(Leg.CANCELLED, "an operator ended it", _REOPEN),
    Row(
        Leg.EXPIRED,
        "its deadline passed before it was done; a late result corrects the status",
        (*_REOPEN, *(one for one in _OVER if one is not Leg.EXPIRED)),
    ),
    Row(Leg.INDETERMINATE, "how a step ended is unknown; check the machine, then retry or skip it", _REOPEN),
    Row(Wave.PENDING, "the wave before it is not over", (Wave.RUNNING, Wave.OVER)),
    Row(Wave.RUNNING, "its legs run", (Wave.SOAKING, Wave.OVER)),
    Row(Wave.SOAKING, "its legs are over; the next wave waits until they have proven healthy", (Wave.OVER,)),
    Row(Wave.OVER, "the next wave may begin"),
    Row(Run.DRAFT, "it is being written", (Run.AWAITING_APPROVAL, Run.SCHEDULED, Run.RUNNING, Run.CANCELLED)),
    Row(
        Run.AWAITING_APPROVAL,
        "an approval is needed first",
        (Run.SCHEDULED, Run.RUNNING, Run.CANCELLED, Run.EXPIRED),
    ),
    Row(
        Run.SCHEDULED,
        "it begins at its scheduled time",
        (Run.AWAITING_APPROVAL, Run.RUNNING, Run.CANCELLED, Run.EXPIRED),
    ),
    Row(Run.RUNNING, "legs run", (Run.PAUSED, Run.HALTED, Run.CANCELLING, *_ENDS)),
    Row(Run.PAUSED, "no new step begins", (Run.RUNNING, Run.CANCELLING, *_ENDS)),
    Row(Run.HALTED, "too many legs failed; no new leg begins", (Run.RUNNING, Run.CANCELLING, *_ENDS)),
    Row(Run.CANCELLING, "legs were asked to end", _ENDS),
    Row(Run.SUCCEEDED, "every leg succeeded"),
    Row(Run.PARTIAL, "some legs succeeded", (Run.RUNNING, *_correctable_statuses(Run.PARTIAL))),
    Row(Run.FAILED, "no leg succeeded", (Run.RUNNING, *_correctable_statuses(Run.FAILED))),
    Row(
        Run.CANCELLED,
        "an operator ended it before a leg succeeded",
        (Run.RUNNING, *_correctable_statuses(Run.CANCELLED)),
    ),
    Row(
        Run.EXPIRED,
        "its deadline passed before a leg was done",
        (Run.RUNNING, *_correctable_statuses(Run.EXPIRED)),
    ),
)
MOVES: dict[Status, frozenset[Status]] = {row.status: frozenset(row.to) for row in ROWS}
OVER = frozenset(_OVER)
ENDED_WELL = frozenset({Leg.SUCCEEDED, Leg.SUCCEEDED_WITH_SKIPS})
ENDS = frozenset(_ENDS)
GOOD = frozenset({Step.SUCCEEDED, Step.SKIPPED})
BAD = frozenset({Step.FAILED, Step.TIMED_OUT, Step.INDETERMINATE})


class WrongMove(Exception):
    """A move that the table does not have."""


def check_move(before: Status, after: Status) -> None:
    """Raise ``WrongMove`` if the table does not have the move; staying is allowed."""
    if before is not after and after not in MOVES[before]:
        raise WrongMove(f"a {type(before).__name__.lower()} cannot go from {before.value} to {after.value}")


def leg_status(steps: Set[Step]) -> Leg:
    """The status of a leg whose steps have all ended, in these ways: the worst one decides."""
    if Step.INDETERMINATE in steps:
        return Leg.INDETERMINATE
    if steps & BAD:
        return Leg.FAILED
    return Leg.SUCCEEDED_WITH_SKIPS if Step.SKIPPED in steps else Leg.SUCCEEDED
