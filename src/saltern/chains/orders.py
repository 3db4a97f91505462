"""An operator's orders to a leg that runs, broke, waits or is over."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from saltern.chains import leg as steps
from saltern.chains.compile import plan_for
from saltern.chains.drive import drive, over
from saltern.chains.legs import REVISED, Journal, KnownLeg, Legs, read_secretly
from saltern.chains.segment_view import SegmentView
from saltern.chains.statuses import ENDED_WELL, OVER, Leg, WrongMove
from saltern.chains.turns import has_waiter
from saltern.config.settings import Settings
from saltern.journal.runs import Runs
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean
from saltern.system import keeper, ledger

NOTHING_LEFT = {
    "retry": "nothing in it failed, so there is nothing to retry",
    "skip": "no action is left to skip",
    "done": "no action is left to declare done",
}


def change(settings: Settings, name: str, kind: str, /, **body: object) -> KnownLeg:
    """Retry, skip, declare done or release. Raises if the statuses do not allow it."""
    with _hold_leg(settings, name) as (legs, known):
        _check_order(known, kind, body)
        journal = Journal(legs, name, known.state.records)
        journal.add(kind, **body)
        return legs.load(name)


def revise(settings: Settings, name: str, pillar: Mapping[str, Any], revision: int = 0) -> KnownLeg:
    """Give a leg that is not at work other inputs; finished actions stay as they are."""
    with _hold_leg(settings, name) as (legs, known):
        if known.state.status in ENDED_WELL or known.state.quarantined:
            _check_order(known, "retry", {})
        head, plan = known.head, known.state.plan
        chain = read_secretly(head["text"], head["file"], pillar)
        new = plan_for(chain, plan.system, wary=bool(head.get("owner")))
        number = revision or int(head.get("revision") or 0) + 1
        body = {"pillar": dict(pillar), "plan_sha256": new.sha256(), "revision": number}
        Journal(legs, name, known.state.records).add(REVISED, **body)
        return legs.load(name)


def cancel(settings: Settings, name: str, reason: str, *, now: bool = False) -> KnownLeg | None:
    """End a leg before its next step, or ``now``, together with the program of the running step.

    None if its process will do that.
    """
    legs, known = _open_leg(settings, name)
    legs.orders.write(name, "cancel", reason)
    if now and _may_stop(known, settings):
        _stop_programs(known, settings)
    if legs.lock.holder() == name or has_waiter(legs, name):
        return None
    if known.state.status is Leg.QUEUED:
        return drive(settings, name)  # ends it without running anything
    with legs.lock.hold(name):
        return drive(settings, name)


def pause(settings: Settings, name: str, reason: str) -> KnownLeg | None:
    """Pause a leg before its next step, until it is resumed. None if its process will do that; this waits
    neither for the next step nor for a machine that goes down.
    """
    legs, known = _open_leg(settings, name)
    if known.state.status is Leg.PAUSED:
        return known
    legs.orders.write(name, "pause", reason)
    if legs.lock.holder() == name or known.state.status in (Leg.REBOOTING, Leg.UPDATING, Leg.QUEUED):
        return None
    with legs.lock.hold(name):
        return drive(settings, name)


@contextmanager
def _hold_leg(settings: Settings, name: str) -> Iterator[tuple[Legs, KnownLeg]]:
    """The legs and this one, which no other process drives meanwhile. An unknown one is refused at once."""
    legs = Legs(settings)
    legs.load(name)
    with legs.lock.hold(name):
        yield legs, legs.load(name)


def _open_leg(settings: Settings, name: str) -> tuple[Legs, KnownLeg]:
    """The legs and this one. Raises if it is over."""
    legs = Legs(settings)
    known = legs.load(name)
    if known.state.status in OVER:
        raise over(known)
    return legs, known


def _may_stop(known: KnownLeg, settings: Settings) -> bool:
    """True if the running step may be stopped. One that installs packages is not stopped, and is the last
    step.
    """
    busy = SegmentView(known, settings).begun_actions
    return not any(action.row.may_replace for action in known.state.plan.steps if action.id in busy)


def _stop_programs(known: KnownLeg, settings: Settings) -> None:
    """Terminate the programs of a leg and their children, and kill them later: by the process of the run,
    or by their keeper.
    """
    segment, runs = known.state.segment, Runs(settings)
    if segment is None:
        return
    holder, folder = runs.lock.holder(), runs.kept_folder(segment.jid)
    if holder is not None and holder.jid == segment.jid:
        _interrupt(holder.pid)
        return
    for entry in ledger.at_work(folder):
        _interrupt(entry.pid)
    keeper.wait_for(folder)


def _interrupt(pid: int) -> None:
    if pid > 0:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)


def _check_order(known: KnownLeg, kind: str, body: dict[str, object]) -> None:
    """Raise if the order is not possible: it is folded first, so that no invalid record is written."""
    from copy import deepcopy

    action = body.get("action")
    if action is not None and action not in known.state.steps:
        fix = did_you_mean(str(action), known.state.steps) or f"there are {', '.join(known.state.steps)}"
        raise OperationError(
            Diagnostic(code="chain-order", what=f"{known.id} has no action {action!r}", fix=fix)
        )
    if known.state.status in ENDED_WELL and kind != "release":
        what = f"{known.id} has {known.state.status.value}: {NOTHING_LEFT[kind]}"
        fix = "to run the chain once more: `saltern chain run FILE`"
        raise OperationError(Diagnostic(code="chain-over", what=what, fix=fix))
    try:
        steps.READERS[kind](deepcopy(known.state), body)
    except WrongMove as problem:
        raise OperationError(Diagnostic(code="chain-order", what=f"{known.id}: {problem}")) from None
