"""Writes down what a run does, and knows what it did before it broke. Implements ``runtime.ports.Journal``.

The rule: what is about to act is written before it acts (``system.effects`` says when that is), and so is
what has changed something, before the next step: that outlives this process. To outlive a loss of power it
is synced, too: whatever stands alone before it acts (``runtime.resuming``), of the others ``AT_RISK`` at a
time. If power is lost, so many may have been called without a trace: they are called again, and nobody
waits for what they change. All else rides along.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

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
from saltern.journal.fold import INTERRUPTED, RunState, ScopeState, fold, take_up
from saltern.journal.form import Record
from saltern.journal.store import Writer
from saltern.language.chunk import Chunk
from saltern.language.delayed import Frame
from saltern.language.events import Answer
from saltern.language.nature import Natures, undeclared
from saltern.language.requisites import Standing
from saltern.language.result import Outcome, Result
from saltern.plan.plan import Plan
from saltern.runtime.interrupted_states import is_once, stands_alone
from saltern.runtime.run_shared import Begun
from saltern.system import reboot
from saltern.system.boot import is_same_boot
from saltern.system.faults import point
from saltern.system.keeper import NO_STATE, ProgramKeeper

if TYPE_CHECKING:
    from saltern.language.barriers import Barrier
    from saltern.runtime.ports import Known, Planner
    from saltern.runtime.recovery import Traces

AT_RISK = 20  # states that may be called between two syncs


class Recorder:
    """One run. ``past`` is what an earlier process has written of it; ``planner`` makes plans of chunks;
    ``natures`` says which states may be called twice."""

    def __init__(
        self,
        writer: Writer,
        past: RunState | None = None,
        planner: Planner | None = None,
        natures: Natures = undeclared,
        programs: ProgramKeeper | None = None,
    ) -> None:
        self._writer = writer
        self._past = past or RunState()
        self._planner = planner
        self._natures = natures
        self._programs = programs or ProgramKeeper("", "")
        self._begun: dict[tuple[str, int], tuple[Begun, Plan]] = {}  # not on disk: none has acted yet
        self._alone: Callable[[int], bool] | None = None
        self._called = 0  # states since the last sync
        self._firm = False  # what waits has to outlive a loss of power before anything acts
        self._unsure = 0  # states that may have been called before
        self._hides = False  # a state is marked ``no_log``
        self.over = False  # nobody goes on with it

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
        self._hides = any(chunk.hidden for chunk in plan.chunks)
        for kind, body in before:
            self._writer.add(kind, body)
        self._past = fold(Record(0, kind, body) for kind, body in (("sources", dict(sources)), *before))
        self._firm = True

    def resumed(self, head: Mapping[str, object]) -> None:
        self._writer.add("resumed", head)
        take_up(self._past, dict(head))
        self._unsure = AT_RISK if self._past.unsure else 0
        self._firm = True

    def sync(self) -> None:
        """Something is about to act: what is begun and not done is what may act."""
        if self._writer.writing:
            return
        for (scope, place), (begun, plan) in self._begun.items():
            self._firm = self._firm or self._stands_alone(scope, place, plan)
            self._writer.add("start", self._start(scope, place, begun, plan))
        self._begun.clear()
        if self._firm or self._called > AT_RISK:
            self._sync()
        else:
            self._writer.save()

    def _start(self, scope: str, place: int, begun: Begun, plan: Plan) -> Body:
        """With the ledger that its programs will be in, if it may not be called twice."""
        body: Body = {"scope": scope, "place": place, "number": begun.number, "started": begun.started}
        chunk = plan.chunks[place if place >= 0 else ~place]
        if self._natures(chunk.state, chunk.fun).repeat == "once":
            apart = place >= 0 and bool("parallel" in chunk.words and chunk.args["parallel"])
            body["ledger"] = self._programs.ledger_of(begun.number, apart=apart)
        return body

    def pause(self) -> None:
        """This process is about to end, and the run is not: all that is known outlives a loss of power."""
        self._firm = True
        self.sync()

    def _sync(self) -> None:
        self._writer.sync()
        self._firm, self._called = False, 0

    def starting(self, scope: str, place: int, begun: Begun, plan: Plan) -> bool:
        self._begun[scope, place] = begun, plan
        chunk = plan.chunks[place if place >= 0 else ~place]
        self._programs.enter(begun.number, self._crossed(scope, place), hidden="no_log" in chunk.words)
        self._called += 1
        if not self._unsure or place in self._past.scope(scope).started:
            return False
        self._unsure -= 1
        if not self._unsure:
            self._writer.add("sure", {})
        return not self._stands_alone(scope, place, plan)

    def _stands_alone(self, scope: str, place: int, plan: Plan) -> bool:
        """What comes of a frame is its caller's, too, and reactions are what others have asked for."""
        if scope or place < 0:
            return True
        self._alone = self._alone or stands_alone(plan, self._natures)
        return self._alone(place)

    def finished(self, scope: str, place: int, answer: Answer, result: Result) -> None:
        self._begun.pop((scope, place), None)
        self._programs.enter(NO_STATE)
        if self._writer.broken:  # the module was told so, and made a failure of it
            self._writer.sync()
        chunk = answer.chunk
        short = brief(scope, place, answer) if result is answer.result else None
        if short is not None:
            self._writer.add_row(short)
            if is_once(chunk, self._natures):
                self._writer.save()
                self._firm = True
            return
        body = {"scope": scope, "place": place, "answer": answer_out(answer)}
        if result is not answer.result and (chunk.delayed or "register" in chunk.words):
            body["result"] = result_out(result)  # hidden from reports, needed by what comes later
        self._writer.add("done", body)
        once = result.ran and is_once(chunk, self._natures)
        if result.changes or once:
            self._writer.save()
        # What others are made of, and what cannot be had again, is not lost with what follows.
        self._firm = self._firm or once or bool(chunk.delayed) or "register" in chunk.words

    def barrier(self, scope: str, place: int, begun: Begun, barrier: Barrier, result: Result) -> None:
        """What a state asks for, durable: from here on, whoever reads this knows what is to be done."""
        from saltern.journal.barriers import asked_for

        self._begun.pop((scope, place), None)
        body = {"scope": scope, "place": place, "number": begun.number, "started": begun.started}
        self._writer.add("barrier", {**body, **asked_for(barrier), "result": result_out(result)})
        point("barrier.asked")
        self.pause()
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
        self._firm = True

    def frame(self, scope: str, target: int, frame: Frame, plan: Plan) -> None:
        self._writer.add(
            "frame",
            {"scope": scope, "target": target, "frame": frame_out(frame), "plan": plan_out(plan)},
        )
        self._hides = self._hides or any(chunk.hidden for chunk in plan.chunks)
        self._firm = True

    def frame_ended(self, frame: Frame) -> None:
        self._writer.add("frame-end", {"path": frame.path})
        self._firm = True

    def stand_in(self, scope: str, target: int, answer: Answer) -> None:
        body = {"scope": scope, "target": target, "answer": answer_out(answer, chunk=True)}
        self._writer.add("stand-in", body)
        self._firm = True

    def listened(self, scope: str, place: int, answer: Answer) -> None:
        self._begun.pop((scope, ~place), None)
        body = {"scope": scope, "place": place, "answer": answer_out(answer, chunk=True)}
        self._writer.add("listened", body)
        self._sync()

    def end(self, *, took: float, stopped: str, failed: bool) -> None:
        hides = self._hides or _hides(self._past)
        if hides:
            self._writer.sync_if_begun()
        self._writer.add("end", {"took": took, "stopped": stopped, "failed": failed})
        self.over = stopped not in INTERRUPTED
        if stopped in INTERRUPTED:  # more will be written
            self._writer.sync()
        elif hides:
            from saltern.journal.hidden import without_hidden

            self._writer.rewrite(without_hidden)
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
        from saltern.runtime.ports import Known

        if place in state.done:
            body = state.done[place]
            answer = answer_in(body["answer"], chunk)
            raw = result_in(body["result"]) if "result" in body else answer.result
            tried = [answer_in(one) for one in self._past.tried.get(answer.number, ())]
            suspect = not scope and place in self._past.suspect
            below = self._steps(answer.number)
            return Known(answer=answer, result=raw, steps=below, tried=tried, suspect=suspect)
        barrier = self._past.barrier(scope, place) if self._past.barriers else None
        if barrier is not None:
            from saltern.journal.barriers import crossing_of
            from saltern.runtime.recovery import NO_TRACES

            begun = _begun(barrier)
            steps = self._past.steps if barrier["when"] == "after" else self._past.lost
            return Known(
                started=begun,
                result=result_in(barrier["result"]),
                steps=self._steps(begun.number, steps),
                crossing=crossing_of(barrier),
                traces=NO_TRACES
                if barrier["fresh"]
                else self._traces(state.started[place], barrier["times"]),
            )
        if place in state.started:
            return self._in_doubt(state.started[place])
        return None

    def _in_doubt(self, body: Body) -> Known:
        from saltern.runtime.ports import Known

        begun = _begun(body)
        steps = self._steps(begun.number, self._past.lost)
        return Known(started=begun, steps=steps, traces=self._traces(body, 0))

    def _traces(self, body: Body, call: int) -> Traces:
        """Of a call that was begun, after so many others of the same state that have ended at a barrier."""
        from saltern.runtime.recovery import Traces

        same = is_same_boot(body.get("boot") or {}, reboot.current().identity())
        whole = self._programs.proves(body.get("ledger"))
        begun, ended = self._programs.known(body["number"], call)
        until = self._programs.until(body["number"], call)
        return Traces(begun, ended, same_boot=same, whole=whole, until=until)

    def _crossed(self, scope: str, place: int) -> int:
        barrier = self._past.barrier(scope, place) if self._past.barriers else None
        return barrier["times"] if barrier else 0

    def retake(self, number: int) -> None:
        self._programs.replay(number)

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
            from saltern.runtime.ports import Known

            answer = answer_in(state.listened[place]["answer"])
            return Known(answer=answer, steps=self._steps(answer.number))
        return self._in_doubt(state.started[~place]) if ~place in state.started else None

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


def _hides(past: RunState) -> bool:
    if not past.scopes:
        return False
    from saltern.journal.hidden import hides

    return any(hides(scope.plan) for scope in past.scopes.values() if scope.plan)


def _begun(body: Body) -> Begun:
    return Begun(body["number"], body["started"], 0.0)
