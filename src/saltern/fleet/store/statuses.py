"""The statuses of a job on one system, and which may follow which. Pure.

Every system of a job ends in one of ``ENDS``. A late return corrects an assumption of the controller
(``GUESSES``): that the job expired, was cancelled in time, or that nothing is known. What a
system has reported itself is never replaced by a guess, nor by a second report.
"""

from __future__ import annotations

from msgspec import Struct


class Status(Struct, frozen=True):
    """One row: what it means, whether it ends the job there, and whether that is known or inferred."""

    about: str
    ends: bool = False
    guess: bool = False


STATUSES: dict[str, Status] = {
    "held": Status("waits for its turn in a batch; it is offered to the system after that"),
    "queued": Status("written down; not sent, or the system is away"),
    "sent": Status("sent; the system has not confirmed it"),
    "running": Status("the system has begun"),
    "down": Status("the system goes down on purpose in the middle of the job, and is to come back"),
    "returned": Status("done, as the system reports", ends=True),
    "failed": Status("done, and something failed", ends=True),
    "refused": Status("the system would not run it", ends=True),
    "cancelled": Status("called off", ends=True, guess=True),
    "expired": Status("the system did not come for it in time", ends=True, guess=True),
    "indeterminate": Status("begun, and the result is unknown", ends=True, guess=True),
}
ENDS = frozenset(name for name, row in STATUSES.items() if row.ends)
GUESSES = frozenset(name for name, row in STATUSES.items() if row.guess)
OPEN = frozenset(STATUSES) - ENDS
REPORTED = ENDS - GUESSES
_RANKS = {"held": -1, "queued": 0, "sent": 1, "running": 2, "down": 2}
WAITING = frozenset({"held", "queued"})  # no agent can have it


def may_follow(old: str, new: str, *, reported: bool) -> bool:
    """True if a job that is ``old`` on a system may become ``new``.

    ``reported``: the system says so; else the controller infers it.
    """
    if old in REPORTED or old == new:
        return False
    if old in GUESSES:
        return reported and new in ENDS
    if new in ENDS:
        return reported or new in GUESSES
    return _RANKS[new] >= _RANKS[old]


def after_deadline(status: str) -> str:
    """The status of an open job after it expires: only one that never began is known to be undone."""
    return "expired" if status in WAITING | {"sent"} else "indeterminate"


def after_cancel(status: str) -> str | None:
    """The status of an open job as soon as it is cancelled; None: the system must report it."""
    return "cancelled" if status in WAITING else None
