"""A controller's order about this system's leg of a run: carried out once, and answered with the leg.

Each order has a number; the highest counts. Each contains the whole plan, so orders do not depend on each
other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from types import SimpleNamespace
from typing import Any

from msgspec import Struct, ValidationError, convert

from saltern.chains.accept import Order
from saltern.chains.compile import LegPlan, plan_for
from saltern.chains.legs import Journal, KnownLeg, Legs, read_secretly
from saltern.chains.order_numbers import OrderNumbers
from saltern.chains.orders import cancel, change, pause, revise
from saltern.chains.statuses import BAD, OVER, Leg, Step
from saltern.cli import exits
from saltern.cli.from_options import session
from saltern.cli.leg_report import LegReport, report_of_leg, short_leg
from saltern.cli.worker_chain import LegDriver
from saltern.cli.worker_follower import JobFollower
from saltern.config.settings import Settings
from saltern.fleet.agent.task import Task
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.report.outputs import options_for, write_data
from saltern.system import clock


class Asked(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of ``chain.leg``."""

    run: str
    order: int
    verb: str
    text: str
    file: str = "chain.yaml"
    step: str = ""
    until: str = ""
    lease: float = 0
    reason: str = ""
    hard: bool = False
    pillar: dict[str, Any] = {}
    revision: int = 0  # of the inputs: a higher revision replaces the leg's inputs
    saltenv: str | None = None


def run_order(
    task: Task, follower: JobFollower, make_args: Callable[[dict[str, Any]], SimpleNamespace]
) -> int:
    """Carry out an order, print the resulting leg, and return the exit code of the job."""
    asked = read_order(task.kwargs)
    args = make_args({"saltenv": asked.saltenv} if asked.saltenv else {})
    settings = session(args).settings
    with redirect_stdout(sys.stderr):
        data = carry_out(settings, asked, follower, task.denied)
    follower.changed = sum(bool(row["changed"]) for row in data["steps"])
    follower.failed = sum(Step(row["status"]) in BAD for row in data["steps"])
    write_data(data, sys.stdout, options_for(sys.stdout, label=""), "json")
    return exits.OK  # the order was carried out, whatever the result of the leg


def carry_out(
    settings: Settings, asked: Asked, follower: JobFollower, denied: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Carry out an order; return the resulting leg."""
    return _Orders(settings, asked, follower, denied).carry_out()


def read_order(given: dict[str, Any]) -> Asked:
    try:
        asked = convert(given, Asked)
    except ValidationError as problem:
        raise _wrong(str(problem)) from None
    if asked.verb not in VERBS:
        raise _wrong(f"no order is called {asked.verb!r}")
    return asked


def _wrong(what: str) -> OperationError:
    return OperationError(Diagnostic(code="job-argument", what=what, fix="use `saltern chain run --on`"))


class _Orders:
    """One order, carried out on this machine."""

    def __init__(
        self, settings: Settings, asked: Asked, follower: JobFollower, denied: tuple[str, ...]
    ) -> None:
        self.settings, self.asked, self.follower, self.denied = settings, asked, follower, denied
        self.legs = Legs(settings)
        chain = read_secretly(asked.text, asked.file, asked.pillar)
        self.plan: LegPlan = plan_for(chain, settings.id)
        self.token = f"{asked.run}.{settings.id}"
        self.numbers = OrderNumbers(self.legs.folder, self.token)

    def carry_out(self) -> dict[str, Any]:
        with self.numbers.take(self.asked.order, self.asked.verb) as counts:
            if counts and not VERBS[self.asked.verb].drives:
                VERBS[self.asked.verb].work(self)
            elif counts:
                self._prepare()
        self.numbers.prune()
        if counts and VERBS[self.asked.verb].drives and not (self.known_leg() is None and self.numbers.end()):
            self._drive()  # otherwise it has ended, and its journal was removed
        report = self.report()
        if Leg(report["status"]) in OVER and self.known_leg() is not None:
            self.numbers.note_end(short_leg(report, {}))
        return report

    def with_leg(self, work: Callable[[str], object]) -> None:
        """Do some work on the leg, unless it never began or has ended; the answer shows its state."""
        known = self.known_leg()
        if known is not None and known.state.status not in OVER:
            with suppress(OperationError):
                work(known.id)
        elif known is not None and known.state.quarantined and self.asked.verb == "release":
            work(known.id)

    # -- running the leg --------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Undo what an earlier order left; a running leg then simply continues."""
        if (known := self.known_leg()) is not None:
            self.legs.orders.remove(known.id, "pause")

    def _drive(self) -> None:
        known = self.known_leg()
        if known is not None and known.state.order < self.asked.order:
            VERBS[self.asked.verb].work(self)
            self._note(known.id)
        known = self.known_leg()
        if known is not None and known.state.status in OVER:
            return
        order = Order(
            text=self.asked.text,
            file=self.asked.file,
            system=self.settings.id,
            pillar=self.asked.pillar,
            token=self.token,
            number=self.asked.order,
            until=self.asked.until,
            lease=self.asked.lease,
            denied=self.denied,
        )
        live = LegReport(self.follower, self.settings, self.token, actions=len(self.plan.every))
        with live.watch():
            LegDriver(self.settings, order, self.follower, take_up=True, on_change=live.note).to_the_end()

    def _note(self, name: str) -> None:
        """Record the order in the journal of the leg, so that it also counts after a reboot."""
        with self.legs.lock.hold(name):
            known = self.legs.load(name)
            body = {name: getattr(self.asked, name) for name in ("order", "verb", "until", "lease")}
            body |= {"denied": list(self.denied), "at": clock.now()}
            Journal(self.legs, name, known.state.records).add("order", **body)

    def change(self, kind: str, **body: object) -> None:
        """Change the leg; a change that its statuses do not allow has no effect, and the answer shows why."""
        if (known := self.known_leg()) is not None:
            try:
                change(self.settings, known.id, kind, order=self.asked.order, **body)
            except OperationError as problem:
                print(f"saltern: {problem.diagnostics[0]}", file=sys.stderr)

    # -- the answer -----------------------------------------------------------------------------------

    def known_leg(self) -> KnownLeg | None:
        return next((one for one in self.legs.all() if one.head.get("token") == self.token), None)

    def report(self) -> dict[str, Any]:
        known = self.known_leg()
        if known is not None:
            data = report_of_leg(known, self.settings)
            return {**data, "order": self.numbers.read().number}
        if (end := self.numbers.end()) is not None:
            return {**end, "order": self.numbers.read().number, "waits_for": REMOVED}
        return self._never_begun()

    def _never_begun(self) -> dict[str, Any]:
        """The leg for an order that came before its plan, or after a higher order."""
        verb = self.numbers.read().verb
        status, step = ENDED_UNBEGUN.get(verb, (Leg.PENDING, Step.NOT_RUN))
        rows = [
            {"action": one.id, "kind": one.kind, "status": step.value, "comment": "", "changed": False}
            for one in self.plan.every
        ]
        return {
            "run": "",
            "chain": self.plan.chain.name,
            "status": status.value,
            "seq": 0,
            "order": self.numbers.read().number,
            "steps": rows,
        }


# -- the verbs ------------------------------------------------------------------------------------------


def _pause(orders: _Orders) -> None:
    orders.with_leg(lambda name: pause(orders.settings, name, orders.asked.reason or "paused by an operator"))


def _cancel(orders: _Orders) -> None:
    why = orders.asked.reason or "cancelled by an operator"
    orders.with_leg(lambda name: cancel(orders.settings, name, why, now=orders.asked.hard))


def _release(orders: _Orders) -> None:
    why = orders.asked.reason or "released by an operator"
    orders.with_leg(
        lambda name: change(orders.settings, name, "release", reason=why, order=orders.asked.order)
    )


def _retry(orders: _Orders) -> None:
    _revise(orders)
    more = {"action": orders.asked.step} if orders.asked.step else {}
    orders.change("retry", **more)


def _revise(orders: _Orders) -> None:
    """Take new inputs for the remaining actions, before they are retried."""
    known = orders.known_leg()
    if known is not None and orders.asked.revision > int(known.head.get("revision") or 0):
        revise(orders.settings, known.id, orders.asked.pillar, orders.asked.revision)


def _skip(orders: _Orders) -> None:
    orders.change("skip", action=orders.asked.step, reason=orders.asked.reason or "skipped by an operator")


def _mark_done(orders: _Orders) -> None:
    orders.change(
        "done", action=orders.asked.step, reason=f"marked as done by an operator: {orders.asked.reason}"
    )


def _nothing(orders: _Orders) -> None:
    """Do nothing: the leg only continues."""


class Verb(Struct, frozen=True):
    """An order. ``drives``: the leg runs afterwards, and the job ends with it."""

    work: Callable[[_Orders], None]
    drives: bool = True


VERBS: dict[str, Verb] = {
    "run": Verb(_nothing),
    "resume": Verb(_nothing),
    "retry": Verb(_retry),
    "skip": Verb(_skip),
    "done": Verb(_mark_done),
    "pause": Verb(_pause, drives=False),
    "cancel": Verb(_cancel, drives=False),
    "release": Verb(_release, drives=False),
}
REMOVED = "it ended long ago, and its journal was removed: start a new run"
ENDED_UNBEGUN = {"cancel": (Leg.CANCELLED, Step.CANCELLED), "pause": (Leg.PAUSED, Step.NOT_RUN)}
