"""What an earlier process recorded of a broken run. Implements ``runtime.ports.Past``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from saltern.journal.barriers import crossing_of
from saltern.journal.body import Body
from saltern.journal.chunk_codec import chunks_in
from saltern.journal.codec import answer_in, frame_in, result_in
from saltern.journal.run_state import RunState, ScopeState
from saltern.language.chunk import Chunk
from saltern.language.delayed import Frame
from saltern.language.events import Answer
from saltern.language.requisites import Standing
from saltern.language.result import Outcome
from saltern.plan.plan import Plan
from saltern.runtime.ports import KnownChunk
from saltern.runtime.progress import Begun
from saltern.runtime.recovery import NO_TRACES, Traces
from saltern.system import reboot
from saltern.system.boot import is_same_boot
from saltern.system.keeper import ProgramKeeper

if TYPE_CHECKING:
    from saltern.runtime.ports import Planner


class Past:
    """The records of one run, folded into ``state``; ``planner`` makes plans from chunks, ``programs`` knows
    the traces of its programs."""

    def __init__(self, state: RunState, planner: Planner | None, programs: ProgramKeeper) -> None:
        self._state = state
        self._planner = planner
        self._programs = programs

    @property
    def number(self) -> int:
        return self._state.number

    def plan(self) -> Plan:
        """The plan of the run when it began."""
        return self._plan_of(self._state.scope(""))

    def known_chunk(self, scope: str, index: int, chunk: Chunk) -> KnownChunk | None:
        """The answer of a chunk, or that it was started."""
        state = self._state.scopes.get(scope)
        if state is None:
            return None
        if index in state.done:
            return self._known_answer(scope, index, state.done[index], chunk)
        barrier = self._state.barrier(scope, index) if self._state.barriers else None
        if barrier is not None:
            return self._at_barrier(barrier, state.started.get(index))
        if index in state.started:
            return self._in_doubt(state.started[index])
        return None

    def _known_answer(self, scope: str, index: int, body: Body, chunk: Chunk) -> KnownChunk:
        answer = answer_in(body["answer"], chunk)
        return KnownChunk(
            answer=answer,
            result=result_in(body["result"]) if "result" in body else answer.result,
            steps=self._steps(answer.number, self._state.steps),
            tried=[answer_in(one) for one in self._state.tried.get(answer.number, ())],
            suspect=not scope and index in self._state.suspect,
        )

    def _at_barrier(self, barrier: Body, started: Body | None) -> KnownChunk:
        begun = _begun_from(barrier)
        steps = self._state.steps if barrier["when"] == "after" else self._state.lost
        traces = NO_TRACES
        if not barrier["fresh"]:
            assert started is not None
            traces = self._traces(started, barrier["times"])
        return KnownChunk(
            started=begun,
            result=result_in(barrier["result"]),
            steps=self._steps(begun.number, steps),
            crossing=crossing_of(barrier),
            traces=traces,
        )

    def _in_doubt(self, body: Body) -> KnownChunk:
        begun = _begun_from(body)
        steps = self._steps(begun.number, self._state.lost)
        return KnownChunk(started=begun, steps=steps, traces=self._traces(body, 0))

    def rehearsal(self, scope: str, index: int) -> Standing | None:
        state = self._state.scopes.get(scope)
        if state is None or index not in state.rehearsed:
            return None
        outcome, changed = state.rehearsed[index]
        return Standing(Outcome(outcome), changed)

    def frame(self, scope: str, caller: int, target: int) -> tuple[Frame, Plan] | None:
        state = self._state.scopes.get(scope)
        path = state.frames.get((caller, target)) if state else None
        if path is None:
            return None
        inner = self._state.scopes[path]
        assert inner.frame is not None
        return frame_in(inner.frame), self._plan_of(inner)

    def stand_in(self, scope: str, caller: int, target: int) -> Answer | None:
        state = self._state.scopes.get(scope)
        body = state.stand_ins.get((caller, target)) if state else None
        return None if body is None else answer_in(body["answer"])

    def reaction(self, scope: str, index: int) -> KnownChunk | None:
        state = self._state.scopes.get(scope)
        if state is None:
            return None
        if index in state.listened:
            answer = answer_in(state.listened[index]["answer"])
            return KnownChunk(answer=answer, steps=self._steps(answer.number, self._state.steps))
        return self._in_doubt(state.started[~index]) if ~index in state.started else None

    def reuse_programs(self, number: int) -> None:
        self._programs.replay(number)

    def _steps(self, number: int, among: Mapping[int, list[Body]]) -> list[Answer]:
        """The sub states of an answer, recursively."""
        found: list[Answer] = []
        for body in among.get(number, ()):
            answer = answer_in(body)
            found += [answer, *self._steps(answer.number, among)]
        return found

    def _traces(self, body: Body, call: int) -> Traces:
        """The traces of a started call, after ``call`` earlier calls of the same state that ended at a
        barrier.
        """
        same = is_same_boot(body.get("boot") or {}, reboot.current().identity())
        whole = self._programs.proves(body.get("ledger"))
        begun, ended = self._programs.begun_and_ended(body["number"], call)
        until = self._programs.until(body["number"], call)
        return Traces(begun, ended, same_boot=same, whole=whole, until=until)

    def _plan_of(self, state: ScopeState) -> Plan:
        assert self._planner is not None
        return self._planner(chunks_in(state.plan, self._state.sources), state.plan["rendered"])


def _begun_from(body: Body) -> Begun:
    return Begun(body["number"], body["started"], 0.0)
