"""One chain at a time: a leg that is accepted while another runs is *queued*, and waits for its turn."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from saltern.chains.leg import LegState
from saltern.chains.legs import Journal, KnownLeg, Legs
from saltern.chains.statuses import OVER, Leg
from saltern.journal.lock_file import LockFile, take
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system import reboot
from saltern.system.waits import report_wait

LOOK = 1.0  # seconds between two checks of the legs ahead
STUCK = (Leg.PAUSED, Leg.RUNNING)  # statuses of a leg that no process runs: it waits for an operator


def refuse_if_stuck(legs: Legs) -> None:
    """Raise if a leg waits for an operator: the legs behind it would never have their turn."""
    for name in legs.unfinished_legs():
        if legs.lock.holder() != name and legs.load(name).state.status in STUCK:
            what = f"{name} is not over, and a machine runs one chain at a time"
            fix = f"`saltern chain resume {name}` resumes it, `saltern chain cancel {name}` ends it"
            raise OperationError(Diagnostic(code="chain-busy", what=what, fix=fix))


def queue_leg(legs: Legs, name: str, journal: Journal) -> None:
    """Record that the leg waits, if another one was accepted before it and is not over."""
    if ahead := legs.ahead_of(name):
        journal.add("queued", behind=ahead[-1])


def wait_for_turn(legs: Legs, name: str) -> bool:
    """Wait until all legs that were accepted before it are over. False if it was cancelled meanwhile, or its
    deadline has passed."""
    if not (ahead := legs.ahead_of(name)):
        return True
    report_wait(f"{ahead[0]} to end; {name} is queued")
    with _mark_waiting(legs, name):
        while any(legs.load(one).state.status not in OVER for one in ahead):
            if legs.orders.reason(name, "cancel") or _is_late(legs, name):
                return False
            reboot.current().wait(LOOK)
    return True


def has_waiter(legs: Legs, name: str) -> bool:
    """True if a process waits for the turn of this leg."""
    return LockFile(_path(legs, name)).holder() is not None


def _is_late(legs: Legs, name: str) -> bool:
    """True if its deadline has passed, which is recorded with the time that it has waited."""
    state = legs.load(name).state
    if state.plan.chain.deadline is None or _waiting_time(state) < state.plan.chain.deadline:
        return False
    Journal(legs, name, state.records).add("queued", behind="")
    return True


def _waiting_time(state: LegState) -> float:
    return state.elapsed + max(0.0, reboot.current().tick() - state.tick)


@contextmanager
def _mark_waiting(legs: Legs, name: str) -> Iterator[None]:
    file = LockFile(_path(legs, name)).open()
    try:
        with suppress(BlockingIOError):  # another process waits for it, too
            take(file)
        yield
    finally:
        os.close(file)
        with suppress(FileNotFoundError):
            os.remove(_path(legs, name))


def _path(legs: Legs, name: str) -> str:
    return os.path.join(legs.folder, f"{name}.waits")


def is_waiting(known: KnownLeg) -> bool:
    return known.state.status in (Leg.PENDING, Leg.QUEUED)
