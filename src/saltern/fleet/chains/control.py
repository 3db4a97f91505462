"""Orders of an operator about a run, as events; and what each order changed, leg by leg. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

from msgspec import Struct

from saltern.chains.statuses import ENDED_WELL, Leg, Run
from saltern.fleet.chains.events import Cancel, Event, GivenUp, OperatorAnswer, Pause, Resume
from saltern.fleet.chains.model import LegState, RunState
from saltern.fleet.chains.reach import missing_approval

BEGIN_AGAIN = ("retry", "skip", "done")  # verbs by which a leg that is over begins again
Verb = Literal["pause", "resume", "cancel", "retry", "skip", "done", "release", "unlock"]
NO_CHANGE = "nothing to do"


class Order(Struct, frozen=True, kw_only=True):
    """One order. Without systems and waves it is about the whole run.

    ``hard``: for a cancel: also stop running steps. ``despite_failures``: for resuming a halted run.
    ``inputs``: for a retry: other inputs for the actions that were not done yet.
    ``more_time``: seconds that a run past its deadline gets for the legs that are resumed.
    """

    verb: Verb
    systems: tuple[str, ...] = ()
    waves: tuple[int, ...] = ()
    step: str = ""
    reason: str = ""
    hard: bool = False
    despite_failures: bool = False
    more_time: float = 86_400.0
    inputs: dict[str, Any] = {}

    @property
    def is_about_run(self) -> bool:
        return not self.systems and not self.waves


def legs_of(run: RunState, order: Order) -> list[LegState]:
    """The legs that an order is about."""
    if order.is_about_run:
        return list(run.legs.values())
    return [leg for leg in run.legs.values() if leg.system in order.systems or leg.wave + 1 in order.waves]


def events_of(run: RunState, order: Order, now: float) -> list[Event]:
    """The events that carry out an order."""
    legs = legs_of(run, order)
    names = () if order.is_about_run else tuple(leg.id for leg in legs)
    return _MAKERS[order.verb](run, order, legs, names, now)


def _pause(_run: RunState, _order: Order, _legs: Any, names: tuple[str, ...], now: float) -> list[Event]:
    return [Pause(now=now, legs=names)]


def _cancel(_run: RunState, _order: Order, _legs: Any, names: tuple[str, ...], now: float) -> list[Event]:
    return [Cancel(now=now, legs=names)]


def _resume(
    _run: RunState, order: Order, legs: Sequence[LegState], names: tuple[str, ...], now: float
) -> list[Event]:
    """The events of a resume; legs that paused themselves are also resumed."""
    waiting = [leg for leg in legs if leg.status is Leg.PAUSED and leg.sent == "run" and not leg.held]
    answers = [OperatorAnswer(now=now, leg=leg.id, word="resume") for leg in waiting]
    return [Resume(now=now, legs=names, despite_failures=order.despite_failures), *answers]


def _take_up(
    _run: RunState, order: Order, legs: Sequence[LegState], _names: tuple[str, ...], now: float
) -> list[Event]:
    word: Any = order.verb
    deadline = now + order.more_time
    some = [leg for leg in legs if leg.status not in ENDED_WELL]
    return [
        OperatorAnswer(now=now, leg=leg.id, word=word, step=order.step, deadline=deadline) for leg in some
    ]


def _unlock(
    _run: RunState, order: Order, legs: Sequence[LegState], _names: tuple[str, ...], now: float
) -> list[Event]:
    return [GivenUp(now=now, legs=tuple(leg.id for leg in legs), why=order.reason)]


_MAKERS: dict[str, Callable[[RunState, Order, Any, tuple[str, ...], float], list[Event]]] = {
    "pause": _pause,
    "cancel": _cancel,
    "resume": _resume,
    "retry": _take_up,
    "skip": _take_up,
    "done": _take_up,
    "release": _take_up,
    "unlock": _unlock,
}


def outcome(before: RunState, after: RunState, order: Order) -> dict[str, str]:
    """What the order has changed: each system that it is about, and ``run`` for the run itself."""
    found: dict[str, str] = {}
    if after.status is not before.status:
        found["run"] = f"{before.status.value} → {after.status.value}"
    for leg in legs_of(after, order):
        was = before.legs[leg.id]
        if leg is not was:
            found[leg.system] = _change(was, leg, order)
        elif not order.is_about_run:
            found[leg.system] = f"{NO_CHANGE}: {_why_not(after, leg, order)}"
    return found


def _change(was: LegState, leg: LegState, order: Order) -> str:
    if leg.is_over and not was.is_over:
        return leg.status.value
    return "ordered" if leg.order != was.order else f"to be {_DEEDS[order.verb]}"


_DEEDS = {
    "pause": "paused",
    "resume": "resumed",
    "cancel": "cancelled",
    "retry": "retried",
    "skip": "continued without the step",
    "done": "continued after the step",
    "release": "released",
    "unlock": "given up",
}


def _why_not(run: RunState, leg: LegState, order: Order) -> str:
    if leg.quarantined and order.verb != "release":
        return "it is in quarantine; release it first"
    if order.step and order.step not in {one.id for one in leg.plan}:
        return f"it has no step {order.step!r}"
    if leg.is_over and (gate := missing_approval(run, leg)):
        return f"gate {gate!r} was not approved"
    if leg.is_over:
        return f"it has {leg.status.value}"
    if order.verb == "unlock":
        return "its system is connected; cancel ends it" if leg.sent else "it has not begun; cancel ends it"
    if run.status is Run.CANCELLING or leg.ending:
        return "it is being cancelled"
    return f"it is {leg.status.value}"


def closed_gate(run: RunState, order: Order, closed: Collection[str]) -> str:
    """The gate that keeps all legs which the order would begin again from that: one that was not approved, or
    one before a step that is ``closed``; empty: the order may be carried out.
    """
    legs = [leg for leg in legs_of(run, order) if leg.status not in ENDED_WELL]
    if order.verb not in BEGIN_AGAIN or not all(leg.is_over for leg in legs):
        return ""
    gates = [missing_approval(run, leg) or _closed_step(leg, closed) for leg in legs]
    return gates[0] if gates and all(gates) else ""


def _closed_step(leg: LegState, closed: Collection[str]) -> str:
    return next((step.gate for step in leg.plan if step.gate in closed), "")


def unknown_parts(run: RunState, order: Order) -> list[str]:
    """The names in an order that the run does not have."""
    systems: Collection[str] = {leg.system for leg in run.legs.values()}
    waves = {wave.number + 1 for wave in run.waves}
    wrong = [f"system {one!r}" for one in order.systems if one not in systems]
    return wrong + [f"wave {one}" for one in order.waves if one not in waves]
