"""Record what the runtime does. Implements ``runtime.ports.Journal``.

The rule: an action is recorded before it happens (``system.effects`` says when that is), together with
earlier changes, so that the record survives this process. To survive a power loss it is also synced:
at once for states that stand alone (``runtime.interrupted_states``), every ``AT_RISK`` states for others.
After a power loss, so many states may have been called without a trace: they are called again, and no state
reacts to their changes. Changes of a state that stands alone are written at once. Everything else is written
along with these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from saltern.journal.body import Body
from saltern.journal.chunk_codec import plan_out
from saltern.journal.codec import answer_out, brief, frame_out, result_out
from saltern.journal.run_state import RunState
from saltern.journal.store import Writer
from saltern.language import secrets
from saltern.language.chunk import Chunk
from saltern.language.delayed import Frame
from saltern.language.events import Answer
from saltern.language.nature import Natures, no_nature
from saltern.language.requisites import Standing
from saltern.language.result import Result
from saltern.plan.plan import Plan
from saltern.runtime.interrupted_states import is_once, stands_alone
from saltern.runtime.progress import Begun
from saltern.system.faults import point
from saltern.system.keeper import NO_STATE, ProgramKeeper

if TYPE_CHECKING:
    from saltern.journal.past import Past
    from saltern.language.barriers import Barrier
    from saltern.runtime.ports import Planner

AT_RISK = 20  # states that may be called between two syncs


class RunJournal:
    """One run. ``state`` is what an earlier process recorded of it; ``planner`` makes plans from chunks;
    ``natures`` says which states may be called twice."""

    def __init__(
        self,
        writer: Writer,
        state: RunState | None = None,
        planner: Planner | None = None,
        natures: Natures = no_nature,
        programs: ProgramKeeper | None = None,
    ) -> None:
        self._writer = writer
        self._state = state or RunState()
        self._planner = planner
        self._begun: dict[tuple[str, int], tuple[Begun, Plan]] = {}  # not on disk, since none has acted yet
        self._natures = natures
        self._programs = programs or ProgramKeeper("", "")
        self._alone = _Alone(natures)
        self._called = 0  # states since the last sync
        self._firm = False  # waiting records must be synced before anything acts
        self._unsure = 0  # states that may have been called already
        self._hides = False  # a state is marked ``no_log``
        self._plan: Plan | None = None  # the plan of the last query
        self._plans: dict[int, Plan] = {}  # plans whose natures are known

    @property
    def past(self) -> Past | None:
        if not self._state.scopes:
            return None
        from saltern.journal.past import Past

        return Past(self._state, self._planner, self._programs)

    def starting(self, scope: str, index: int, begun: Begun, plan: Plan) -> bool:
        if plan is not self._plan:
            self._plan = plan
            if not scope:
                self._alone.plan = plan
            if id(plan) not in self._plans:
                self._plans[id(plan)] = plan
                _ask_ahead(plan, self._natures)
        self._begun[scope, index] = begun, plan
        chunk = plan.chunks[index if index >= 0 else ~index]
        barrier = self._state.barrier(scope, index) if self._state.barriers else None
        self._programs.enter(begun.number, barrier["times"] if barrier else 0, hidden=_is_hidden(chunk))
        self._called += 1
        if not self._unsure or index in self._state.scope(scope).started:
            return False
        self._unsure -= 1
        if not self._unsure:
            self._writer.add("sure", {})
        return not self._alone.includes(scope, index)

    def sync(self) -> None:
        """Called before anything acts: record the started states, which are the ones that may act."""
        if self._writer.writing:
            return
        for (scope, index), (begun, plan) in self._begun.items():
            self._firm = self._firm or self._alone.includes(scope, index)
            body = {"scope": scope, "place": index, "number": begun.number, "started": begun.started}
            named = _ledger_of(self._programs, self._natures, plan, index, begun.number)
            self._writer.add("start", body if named is None else {**body, "ledger": named})
        self._begun.clear()
        if self._firm or self._called > AT_RISK:
            self._sync()
        else:
            self._writer.save()

    def _sync(self) -> None:
        self._writer.sync()
        self._firm, self._called = False, 0

    def finished(self, scope: str, index: int, answer: Answer, result: Result) -> None:
        self._begun.pop((scope, index), None)
        self._programs.enter(NO_STATE)
        if self._writer.broken:  # the module received the error and reported a failure
            self._writer.sync()
        chunk = answer.chunk
        short = brief(scope, index, answer) if result is answer.result else None
        if short is not None:
            self._writer.add_row(short)
            if is_once(chunk, self._natures):
                self._writer.save()
                self._firm = True
            return
        body = {"scope": scope, "place": index, "answer": answer_out(answer)}
        if result is not answer.result and (chunk.delayed or "register" in chunk.words):
            body["result"] = result_out(result)  # hidden from reports, needed by later states
        self._writer.add("done", body)
        once = result.ran and is_once(chunk, self._natures)
        if once or (result.changes and self._alone.includes(scope, index)):
            self._writer.save()
        # What others are made of, and what cannot be had again, is not lost with what follows.
        self._firm = self._firm or once or bool(chunk.delayed) or "register" in chunk.words

    def barrier(self, scope: str, index: int, begun: Begun, barrier: Barrier, result: Result) -> None:
        """Record the barrier that a state requests, durable: from here on the journal says what to do."""
        from saltern.journal.barriers import asked_for

        self._begun.pop((scope, index), None)
        body = {"scope": scope, "place": index, "number": begun.number, "started": begun.started}
        self._writer.add("barrier", {**body, **asked_for(barrier), "result": result_out(result)})
        point("barrier.asked")
        self._firm = True
        self.sync()
        point("barrier.kept")

    def step(self, answer: Answer) -> None:
        self._writer.add("step", answer_out(answer, chunk=True))

    def tried(self, number: int) -> None:
        self._writer.add("tried", {"under": number})

    def rehearsed(self, scope: str, index: int, standing: Standing) -> None:
        outcome, changed = standing.outcome.value, standing.changed
        self._add_firm("rehearsed", {"scope": scope, "place": index, "outcome": outcome, "changed": changed})

    def frame(self, scope: str, target: int, frame: Frame, plan: Plan) -> None:
        body = {"scope": scope, "target": target, "frame": frame_out(frame), "plan": plan_out(plan)}
        self._add_firm("frame", body)
        self._hides = self._hides or any(chunk.hidden for chunk in plan.chunks)

    def frame_ended(self, frame: Frame) -> None:
        self._add_firm("frame-end", {"path": frame.path})

    def stand_in(self, scope: str, target: int, answer: Answer) -> None:
        body = {"scope": scope, "target": target, "answer": answer_out(answer, chunk=True)}
        self._add_firm("stand-in", body)

    def listened(self, scope: str, index: int, answer: Answer) -> None:
        self._begun.pop((scope, ~index), None)
        body = {"scope": scope, "place": index, "answer": answer_out(answer, chunk=True)}
        self._writer.add("listened", body)
        self._sync()

    def _add_firm(self, kind: str, body: Body) -> None:
        """Add a record that must be synced before anything else acts."""
        self._writer.add(kind, body)
        self._firm = True


def _ledger_of(programs: ProgramKeeper, natures: Natures, plan: Plan, index: int, number: int) -> str | None:
    """The ledger for the programs of a state; None if it may be called twice."""
    chunk = plan.chunks[index if index >= 0 else ~index]
    if natures(chunk.state, chunk.fun).repeat != "once":
        return None
    apart = index >= 0 and bool("parallel" in chunk.words and chunk.args["parallel"])
    return programs.ledger_of(number, apart=apart)


def _ask_ahead(plan: Plan, natures: Natures) -> None:
    """Look up the nature of every state before any acts.

    The lookup may import a module. Importing writes compiled code, which is an effect,
    before which the journal is written, which looks up natures: in the middle of that import.
    """
    for state, fun in {(chunk.state, chunk.fun) for chunk in plan.chunks}:
        natures(state, fun)


def _is_hidden(chunk: Chunk) -> bool:
    """True if no output of its programs may go to a file."""
    return "no_log" in chunk.words or secrets.holds(chunk.args)


class _Alone:
    """The states that a power loss must not take together with others."""

    def __init__(self, natures: Natures) -> None:
        self.plan: Plan | None = None  # of the run itself, not of a frame
        self._natures = natures
        self._of: Plan | None = None
        self._in_plan: Callable[[int], bool] | None = None

    def includes(self, scope: str, index: int) -> bool:
        """True if a state stands alone. Frames count for their caller; reactions were requested by others."""
        if scope or index < 0 or self.plan is None:
            return True
        if self._in_plan is None or self._of is not self.plan:
            self._of, self._in_plan = self.plan, stands_alone(self.plan, self._natures)
        return self._in_plan(index)
