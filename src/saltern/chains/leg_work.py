"""The resources of a process that has the lock of a leg: its runs, its journal, its orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from saltern.chains.compile import LegPlan, state_id
from saltern.chains.leg import LegState
from saltern.chains.legs import Journal, Legs
from saltern.chains.segment_runs import SegmentRuns
from saltern.chains.standing_orders import StandingOrders
from saltern.config.settings import Settings
from saltern.durable.head import restore_session
from saltern.engine.session import Session
from saltern.journal.runs import Runs
from saltern.language.events import ChunkStarted, Event

if TYPE_CHECKING:
    from saltern.runtime.ports import EventSink, ResumeQuestion


class LegWork:
    """One leg, with the configuration that it was accepted with."""

    def __init__(
        self,
        settings: Settings,
        legs: Legs,
        name: str,
        on_event: EventSink | None,
        again: Sequence[str] = (),
        question: ResumeQuestion | None = None,
    ) -> None:
        self.legs, self.name, self.on_event, self.question = legs, name, on_event, question
        self.onward = ("chain", "resume", name, *again)  # the build that takes over continues the leg
        known = legs.load(name)
        self.head = known.head
        self.settings = self.session(settings).settings
        self.runs = Runs(self.settings)
        self.segment_runs = SegmentRuns(self.settings, self.runs)
        self.orders = StandingOrders(legs, name)
        self.again = again
        self.actions = {state_id(one.id): one.id for one in known.state.plan.every}
        self.journal = Journal(legs, name, known.state.records)

    def session(self, settings: Settings) -> Session:
        """A session with the configuration that the leg was accepted with."""
        return restore_session(settings, self.head["settings"], self.head.get("pillar") or {})

    @property
    def state(self) -> LegState:
        """The current state of the leg, from its journal."""
        return self.legs.load(self.name).state

    @property
    def plan(self) -> LegPlan:
        return self.state.plan

    def watch(self, event: Event) -> None:
        """Stop before a state if the leg is cancelled or paused; otherwise pass the event on."""
        if isinstance(event, ChunkStarted) and (self.orders.is_cancelled() or self.orders.is_paused()):
            raise KeyboardInterrupt
        if isinstance(event, ChunkStarted) and event.chunk.id in self.actions and event.is_outer_call:
            self.legs.orders.note_current(self.name, self.actions[event.chunk.id])
        if self.on_event is not None:
            self.on_event(event)
