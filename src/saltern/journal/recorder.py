"""Writes down what a run does, and knows what it did before it broke. Implements ``runtime.ports.Journal``.

The rule: what is about to act is on disk before it acts (``system.effects`` says when that is); what has
changed something outlives this process before the next step, and a loss of power before the next effect.
All else rides along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from saltern.journal.codec import (
    Body,
    answer_in,
    answer_out,
    brief,
    chunks_in,
    frame_in,
    frame_out,
    plan_out,
    result_in,
    result_out,
)
from saltern.journal.fold import INTERRUPTED, RunState, ScopeState, fold, lose_steps
from saltern.journal.store import Record, Writer
from saltern.language.chunk import Chunk
from saltern.language.delayed import Frame
from saltern.language.events import Answer
from saltern.language.requisites import Standing
from saltern.language.result import Outcome, Result
from saltern.plan.plan import Plan
from saltern.runtime.barriers import Barrier
from saltern.runtime.ports import Begun, Known, Planner
from saltern.runtime.resuming import is_once
from saltern.system.faults import point


class Recorder:
    """One run. ``past`` is what an earlier process has written of it; ``planner`` makes plans of chunks."""

    def __init__(self, writer: Writer, past: RunState | None = None, planner: Planner | None = None) -> None:
        self._writer = writer
        self._past = past or RunState()
        self._planner = planner
        self._begun: dict[tuple[str, int], Begun] = {}  # not on disk: nothing of them has acted yet

    # -- what happens ----------------------------------------------------------------------------

    def begin(
        self,
        head: Mapping[str, object],
        plan: Plan,
        sources: Mapping[str, str],
        before: Sequence[tuple[str, Body]] = (),
    ) -> None:
        """Before anything acts: who asked for what, from which texts, and what will be done.

        ``before`` are records of an earlier run which stand for this one, too.
        """
        self._writer.add("run", head)
        self._writer.add("sources", sources)
        self._writer.add("plan", plan_out(plan))
        for kind, body in before:
            self._writer.add(kind, body)
        self._past = fold(Record(0, kind, body) for kind, body in (("sources", dict(sources)), *before))

    def resumed(self, head: Mapping[str, object]) -> None:
        self._writer.add("resumed", head)
        lose_steps(self._past)

    def sync(self) -> None:
        """Something is about to act: what is begun and not done is what may act."""
        if self._writer.writing:
            return
        for (scope, place), begun in self._begun.items():
            body = {"scope": scope, "place": place, "number": begun.number, "started": begun.started}
            self._writer.add("start", body)
        self._begun.clear()
        self._writer.sync()

    def starting(self, scope: str, place: int, begun: Begun) -> None:
        self._begun[scope, place] = begun

    def finished(self, scope: str, place: int, answer: Answer, result: Result) -> None:
        self._begun.pop((scope, place), None)
        if self._writer.broken:  # the module was told so, and made a failure of it
            self._writer.sync()
        chunk = answer.chunk
        short = brief(scope, place, answer) if result is answer.result else None
        if short is not None:
            self._writer.add_row(short)
            if is_once(chunk):
                self._writer.save()
            return
        body = {"scope": scope, "place": place, "answer": answer_out(answer)}
        if result is not answer.result and (chunk.delayed or "register" in chunk.words):
            body["result"] = result_out(result)  # hidden from reports, needed by what comes later
        self._writer.add("done", body)
        if result.changes or (result.ran and is_once(chunk)):
            self._writer.save()

    def barrier(self, scope: str, place: int, begun: Begun, barrier: Barrier, result: Result) -> None:
        """What a state asks for, durable: from here on, whoever reads this knows what is to be done."""
        from saltern.journal.barriers import asked_for

        self._begun.pop((scope, place), None)
        body = {"scope": scope, "place": place, "number": begun.number, "started": begun.started}
        self._writer.add("barrier", {**body, **asked_for(barrier), "result": result_out(result)})
        point("barrier.asked")
        self.sync()
        point("barrier.kept")

    def step(self, answer: Answer) -> None:
        self._writer.add("step", answer_out(answer, chunk=True))

    def tried(self, number: int) -> None:
        self._writer.add("tried", {"under": number})

    def rehearsed(self, scope: str, place: int, standing: Standing) -> None:
        body = {
            "scope": scope,
            "place": place,
            "outcome": standing.outcome.value,
            "changed": standing.changed,
        }
        self._writer.add("rehearsed", body)

    def frame(self, scope: str, target: int, frame: Frame, plan: Plan) -> None:
        self._writer.add(
            "frame",
            {"scope": scope, "target": target, "frame": frame_out(frame), "plan": plan_out(plan)},
        )

    def frame_ended(self, frame: Frame) -> None:
        self._writer.add("frame-end", {"path": frame.path})

    def stand_in(self, scope: str, target: int, answer: Answer) -> None:
        body = {"scope": scope, "target": target, "answer": answer_out(answer, chunk=True)}
        self._writer.add("stand-in", body)

    def listened(self, scope: str, place: int, answer: Answer) -> None:
        self._begun.pop((scope, ~place), None)
        body = {"scope": scope, "place": place, "answer": answer_out(answer, chunk=True)}
        self._writer.add("listened", body)
        self._writer.sync()

    def end(self, *, took: float, stopped: str, failed: bool) -> None:
        self._writer.add("end", {"took": took, "stopped": stopped, "failed": failed})
        if stopped in INTERRUPTED:  # more will be written
            self._writer.sync()
        else:
            self._writer.finish()

    # -- what happened before ---------------------------------------------------------------------

    @property
    def resuming(self) -> bool:
        return bool(self._past.scopes)

    @property
    def number(self) -> int:
        return self._past.number

    def plan(self) -> Plan:
        """The plan that the run had when it began."""
        return self._planned(self._past.scope(""))

    def known(self, scope: str, place: int, chunk: Chunk) -> Known | None:
        """The answer that a chunk has given, or that it was begun."""
        state = self._past.scopes.get(scope)
        if state is None:
            return None
        if place in state.done:
            body = state.done[place]
            answer = answer_in(body["answer"], chunk)
            raw = result_in(body["result"]) if "result" in body else answer.result
            tried = [answer_in(one) for one in self._past.tried.get(answer.number, ())]
            return Known(answer=answer, result=raw, steps=self._steps(answer.number), tried=tried)
        barrier = self._past.barrier(scope, place) if self._past.barriers else None
        if barrier is not None:
            from saltern.journal.barriers import crossing_of

            begun = _begun(barrier)
            steps = self._past.steps if barrier["when"] == "after" else self._past.lost
            return Known(
                started=begun,
                result=result_in(barrier["result"]),
                steps=self._steps(begun.number, steps),
                crossing=crossing_of(barrier),
            )
        if place in state.started:
            begun = _begun(state.started[place])
            return Known(started=begun, steps=self._steps(begun.number, self._past.lost))
        return None

    def was_rehearsed(self, scope: str, place: int) -> Standing | None:
        state = self._past.scopes.get(scope)
        if state is None or place not in state.rehearsed:
            return None
        outcome, changed = state.rehearsed[place]
        return Standing(Outcome(outcome), changed)

    def had_frame(self, scope: str, caller: int, target: int) -> tuple[Frame, Plan] | None:
        state = self._past.scopes.get(scope)
        path = state.frames.get((caller, target)) if state else None
        if path is None:
            return None
        inner = self._past.scopes[path]
        assert inner.frame is not None
        return frame_in(inner.frame), self._planned(inner)

    def had_stand_in(self, scope: str, caller: int, target: int) -> Answer | None:
        state = self._past.scopes.get(scope)
        body = state.stand_ins.get((caller, target)) if state else None
        return None if body is None else answer_in(body["answer"])

    def has_listened(self, scope: str, place: int) -> Known | None:
        state = self._past.scopes.get(scope)
        if state is None:
            return None
        if place in state.listened:
            answer = answer_in(state.listened[place]["answer"])
            return Known(answer=answer, steps=self._steps(answer.number))
        return Known(started=_begun(state.started[~place])) if ~place in state.started else None

    def _steps(self, number: int, among: Mapping[int, list[Body]] | None = None) -> list[Answer]:
        """The sub states of an answer, and theirs."""
        found: list[Answer] = []
        for body in (self._past.steps if among is None else among).get(number, ()):
            answer = answer_in(body)
            found += [answer, *self._steps(answer.number, among)]
        return found

    def _planned(self, state: ScopeState) -> Plan:
        assert self._planner is not None
        return self._planner(chunks_in(state.plan, self._past.sources), state.plan["rendered"])


def _begun(body: Body) -> Begun:
    return Begun(body["number"], body["started"], 0.0)
