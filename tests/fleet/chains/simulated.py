"""Systems and a network for a simulated run: the node's rules written a second time, and reports that get
lost, repeated and mixed up.
"""

from __future__ import annotations

from collections.abc import Callable

from saltern.chains.statuses import Leg, Step
from saltern.fleet.chains.advance import advance
from saltern.fleet.chains.events import Command, Event, Reported, Send
from saltern.fleet.chains.model import RunState, StepPlan, StepState

DONE = (Step.SUCCEEDED, Step.SKIPPED)
LEG_OVER = {
    Leg.SUCCEEDED,
    Leg.SUCCEEDED_WITH_SKIPS,
    Leg.FAILED,
    Leg.CANCELLED,
    Leg.EXPIRED,
    Leg.INDETERMINATE,
}


class Node:
    """One system with one leg: it does what the highest order says, one step at a time."""

    def __init__(self, leg: str, plan: tuple[StepPlan, ...], results: tuple[Step, ...]) -> None:
        self.leg, self.plan, self.results = leg, plan, results
        self.steps = [Step.NOT_RUN] * len(plan)
        self.number, self.verb, self.seq = 0, "", 0
        self.applied = 0  # the highest order that the leg was changed by
        self.until = ""
        self.status = Leg.PENDING
        self.trace: list[int] = []  # the steps that were run

    def take(self, order: Send) -> None:
        if order.number <= self.number:
            return
        self.number, self.until = order.number, order.until
        self.applied = order.number if order.verb not in ("pause", "cancel") else self.applied
        if self.status in LEG_OVER and not self._reopened(order):
            self._say(self.status)
            return
        self.verb = "run" if order.verb in ("retry", "skip", "done", "resume") else order.verb
        if order.verb in ("retry", "skip", "done") and (bad := self._stopped_at()) is not None:
            self.steps[bad] = {"retry": Step.NOT_RUN, "skip": Step.SKIPPED, "done": Step.SUCCEEDED}[
                order.verb
            ]
            self.results = (*self.results[:bad], Step.SUCCEEDED, *self.results[bad + 1 :])
        self._say(Leg.DELIVERED if self.status is Leg.PENDING else self.status)

    def _reopened(self, order: Send) -> bool:
        """Whether an operator takes up again what has not ended well."""
        if order.verb not in ("retry", "skip", "done") or self.status in (
            Leg.SUCCEEDED,
            Leg.SUCCEEDED_WITH_SKIPS,
        ):
            return False
        self.status = Leg.PAUSED
        self.steps = [Step.NOT_RUN if one is Step.CANCELLED else one for one in self.steps]
        return True

    def _stopped_at(self) -> int | None:
        for index, step in enumerate(self.steps):
            if step not in (*DONE, Step.NOT_RUN) and self.plan[index].on_failure != "continue":
                return index
        return None

    def work(self) -> None:
        """Do one thing."""
        if not self.verb or self.status in LEG_OVER:
            return
        stop = self._stopped_at()
        if self.verb == "cancel":
            self.steps = [Step.CANCELLED if one is Step.NOT_RUN else one for one in self.steps]
            self._say(Leg.CANCELLED)
        elif self.verb == "pause" or (stop is not None and self.plan[stop].on_failure == "pause"):
            self._say(Leg.PAUSED)
        elif stop is not None or Step.NOT_RUN not in self.steps:
            self._say(self._end())
        elif self.until and self.steps.index(Step.NOT_RUN) > [one.id for one in self.plan].index(self.until):
            self._say(Leg.WAITING)
        else:
            self._run_step(self.steps.index(Step.NOT_RUN))

    def _run_step(self, index: int) -> None:
        self.trace.append(index)
        self.steps[index] = self.results[index]
        self._say(Leg.RUNNING)

    def _end(self) -> Leg:
        if Step.INDETERMINATE in self.steps:
            return Leg.INDETERMINATE
        if any(one not in DONE for one in self.steps):
            return Leg.FAILED
        return Leg.SUCCEEDED_WITH_SKIPS if Step.SKIPPED in self.steps else Leg.SUCCEEDED

    def _say(self, status: Leg) -> None:
        self.status = status
        self.seq += 1

    def report(self, now: float) -> Reported:
        steps = tuple(StepState(status=one) for one in self.steps)
        return Reported(
            now=now,
            leg=self.leg,
            seq=self.seq,
            status=self.status,
            steps=steps,
            order=self.number,
            applied=self.applied,
        )


class Simulation:
    """A run, its systems, and what is under way between them."""

    def __init__(self, run: RunState, results: dict[str, tuple[Step, ...]]) -> None:
        self.run, self.now = run, 0.0
        self.nodes = {leg.id: Node(leg.id, leg.plan, results[leg.system]) for leg in run.legs.values()}
        self.commands: list[Command] = []
        self.orders: list[Send] = []
        self.reports: list[Reported] = []
        self.checks: list[Callable[[RunState, RunState, tuple[Command, ...]], None]] = []

    def feed(self, event: Event) -> tuple[Command, ...]:
        before = self.run
        self.run, commands = advance(before, event)
        for check in self.checks:
            check(before, self.run, commands)
        self.commands += commands
        self.orders += [one for one in commands if isinstance(one, Send)]
        return commands

    def work(self, leg: str) -> None:
        self.nodes[leg].work()
        self.reports.append(self.nodes[leg].report(self.now))

    def exchange(self) -> None:
        """Every order and every report arrives."""
        while self.orders or self.reports:
            orders, self.orders = self.orders, []
            for order in orders:
                self.nodes[order.leg].take(order)
            reports, self.reports = self.reports, []
            for report in reports:
                self.feed(report)

    @property
    def sends(self) -> list[Send]:
        return [one for one in self.commands if isinstance(one, Send)]
