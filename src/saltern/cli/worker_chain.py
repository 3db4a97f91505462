"""Run the leg of a chain as an agent's job: begin it once, run it to its end over reboots, print it as
data.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from types import SimpleNamespace

from saltern.chains.accept import Order, start
from saltern.chains.compile import LegPlan, plan_for
from saltern.chains.drive import resume_leg
from saltern.chains.legs import KnownLeg, Legs, read_secretly
from saltern.chains.orders import cancel
from saltern.chains.show import as_data
from saltern.chains.statuses import BAD, OVER, Leg
from saltern.cli import exits
from saltern.cli.chain_output import CODES
from saltern.cli.from_options import output_options, session
from saltern.cli.worker_follower import JobFollower
from saltern.config.settings import Settings
from saltern.fleet.agent.task import Task
from saltern.language.diagnostics import OperationError
from saltern.language.events import ChunkStarted, Event, RunFinished
from saltern.report.outputs import write_data

WORDS = frozenset({"text", "file", "pillar", "saltenv"})
DOWN = (Leg.REBOOTING, Leg.UPDATING)
RESTS = (Leg.PAUSED, Leg.WAITING)
LOOK = 0.5  # seconds between two polls of a leg that another process runs
WHY = "its job was cancelled"


def run_leg(task: Task, follower: JobFollower, args: SimpleNamespace) -> int:
    """Run the leg of this job until it ends or waits, print it, and return its exit code."""
    engine = session(args)
    text, file = str(task.kwargs.get("text", "")), str(task.kwargs.get("file", "chain"))
    plan = plan_for(read_secretly(text, file, _pillar(task.kwargs.get("pillar"))), engine.settings.id)
    data: dict[str, object] = {"chain": plan.chain.name, "system": plan.system, "status": "", "steps": []}
    code = exits.OK
    if task.test and plan.segments:
        data = _rehearse(task, plan, session(args, test=True).settings)
        code = exits.FAILED if data["status"] == "failed" else exits.OK
    elif plan.segments:
        order = Order(
            text=text,
            file=file,
            system=plan.system,
            pillar=_pillar(task.kwargs.get("pillar")),
            token=task.jid,
            denied=task.denied,
        )
        with redirect_stdout(sys.stderr):
            known = LegDriver(engine.settings, order, follower).to_the_end()
        data = as_data(known, engine.settings)
        code = CODES.get(known.state.status.value, exits.OK)
        follower.changed = sum(one.changed for one in known.state.steps.values())
        follower.failed = sum(one.status in BAD for one in known.state.steps.values())
    write_data(data, sys.stdout, output_options(args, engine.settings), "json")
    return code


def _rehearse(task: Task, plan: LegPlan, settings: Settings) -> dict[str, object]:
    """What the leg would do on this machine."""
    from saltern.chains.rehearse import rehearse

    with redirect_stdout(sys.stderr):
        return rehearse(plan, settings, plan.chain.values, task.denied)


def _pillar(given: object) -> dict[str, object]:
    return {str(key): value for key, value in given.items()} if isinstance(given, dict) else {}


class LegDriver:
    """Runs the leg whose token is the number of the job; an earlier worker may have begun it."""

    def __init__(
        self,
        settings: Settings,
        order: Order,
        follower: JobFollower,
        *,
        take_up: bool = False,
        on_change: Callable[..., None] = lambda **_options: None,
    ) -> None:
        self.settings, self.order, self.follower = settings, order, follower
        self.take_up = take_up  # continue a paused leg
        self.on_change = on_change

    def to_the_end(self) -> KnownLeg:
        """Run the leg to its end. A shutdown ends this process while it waits; the next one continues."""
        try:
            while not _rests(known := self._advance()):
                pass
        except KeyboardInterrupt:  # killed, or cancelled before the next action
            if (begun := self._begun_leg()) is None:
                raise
            known = begun
        if self.follower.is_cancelled() and known.state.status not in OVER:
            cancel(self.settings, known.id, self._why(known.id))
            return Legs(self.settings).load(known.id)
        return known

    def _advance(self) -> KnownLeg:
        while (known := self._begun_leg()) is not None:
            if known.state.status in OVER or (known.state.status in RESTS and not self.take_up):
                return known
            self.take_up = False
            try:
                return resume_leg(self.settings, known.id, self._watch)
            except OperationError as problem:
                if not self._is_driven(known.id, problem):
                    raise
                time.sleep(LOOK)  # the machine's own service runs it, or another job: wait for the result
                self.on_change()
        return start(self.settings, self.order, self._watch)

    def _begun_leg(self) -> KnownLeg | None:
        every = Legs(self.settings).all()
        return next((one for one in every if one.head.get("token") == self.order.token), None)

    def _why(self, name: str) -> str:
        """Why the leg is cancelled: an order may have given the reason before the job was ended."""
        ordered = Legs(self.settings).orders.reason(name, "cancel")
        return ordered or self.follower.cancel_reason() or WHY

    def _is_driven(self, name: str, problem: OperationError) -> bool:
        code = problem.diagnostics[0].code
        return code == "chain-over" or (
            code == "chain-busy" and Legs(self.settings).lock.holder() in (name, "")
        )

    def _watch(self, event: Event) -> None:
        if isinstance(event, ChunkStarted) and self.follower.is_cancelled() and (known := self._begun_leg()):
            Legs(self.settings).orders.write(known.id, "cancel", self._why(known.id))
        begins = isinstance(event, ChunkStarted) and event.is_outer_call
        self.on_change(now=isinstance(event, RunFinished), begins=begins)
        self.follower.follow(event)


def _rests(known: KnownLeg) -> bool:
    """True if nothing more can be done now: the leg has ended, waits for an operator, or was interrupted."""
    return known.state.status not in DOWN
