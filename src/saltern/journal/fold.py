"""Records → what is known of a run: a pure function, so that any prefix of a journal has one meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, field

from saltern.journal.codec import brief_in
from saltern.journal.store import Record

Body = dict[str, Any]
INTERRUPTED = ("interrupted", "terminated")  # by a user; by whoever ends processes, as a shutdown does


class ScopeState(Struct):
    """One scope: the run itself, or a frame of it. Keys are places in its plan, or run numbers of callers."""

    plan: Body = field(default_factory=dict)
    frame: Body | None = None
    started: dict[int, Body] = field(default_factory=dict)
    done: dict[int, Body] = field(default_factory=dict)
    rehearsed: dict[int, tuple[object, bool]] = field(default_factory=dict)
    frames: dict[tuple[int, int], str] = field(default_factory=dict)  # (caller, target) → path
    stand_ins: dict[tuple[int, int], Body] = field(default_factory=dict)
    listened: dict[int, Body] = field(default_factory=dict)
    ended: bool = False


class RunState(Struct):
    """All that a journal says."""

    head: Body = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    scopes: dict[str, ScopeState] = field(default_factory=dict)
    steps: dict[int, list[Body]] = field(default_factory=dict)  # parent's number → its sub states
    lost: dict[int, list[Body]] = field(default_factory=dict)  # the same, of calls that broke with the run
    end: Body | None = None
    resumed: int = 0
    records: int = 0
    number: int = 0  # the next

    @property
    def has_plan(self) -> bool:
        return "" in self.scopes and bool(self.scopes[""].plan)

    def scope(self, path: str) -> ScopeState:
        return self.scopes.setdefault(path, ScopeState())

    @property
    def in_doubt(self) -> list[tuple[str, int]]:
        """Begun, and nobody knows how it ended."""
        return [
            (path, place)
            for path, scope in self.scopes.items()
            for place in scope.started
            if place not in scope.done and ~place not in scope.listened
        ]

    @property
    def status(self) -> str:
        """``running`` is for whoever knows that its process lives."""
        if self.end is None:
            return "broken" if self.has_plan else "unbegun"
        if self.end["stopped"] in INTERRUPTED:
            return "interrupted"
        return "failed" if self.end["failed"] else "succeeded"


def fold(records: Iterable[Record]) -> RunState:
    state = RunState()
    for record in records:
        state.records = record.seq + 1
        reader = _READERS.get(record.kind)
        if reader is not None:  # a kind of a later version tells us nothing we could use
            reader(state, record.body)
    return state


def _counted(state: RunState, body: Body) -> None:
    state.number = max(state.number, int(body["number"]) + 1)


def _head(state: RunState, body: Body) -> None:
    state.head = body


def _resumed(state: RunState, _body: Body) -> None:
    state.resumed += 1
    state.end = None
    lose_steps(state)


def lose_steps(state: RunState) -> None:
    """What a call had done when it broke is not what the state came to: it may be called again."""
    known = {body["answer"]["number"] for one in state.scopes.values() for body in one.done.values()}
    known |= {body["answer"]["number"] for one in state.scopes.values() for body in one.listened.values()}
    for parent in sorted(state.steps):
        if parent in known:
            known.update(body["number"] for body in state.steps[parent])
        else:
            state.lost[parent] = state.steps.pop(parent)


def _sources(state: RunState, body: Body) -> None:
    state.sources.update(body)


def _plan(state: RunState, body: Body) -> None:
    state.scope("").plan = body


def _started(state: RunState, body: Body) -> None:
    state.scope(body["scope"]).started[body["place"]] = body
    _counted(state, body)


def _done(state: RunState, body: Body) -> None:
    state.scope(body["scope"]).done[body["place"]] = body
    _counted(state, body["answer"])


def _rows(state: RunState, rows: Sequence[Sequence[Any]]) -> None:
    for row in rows:
        _done(state, brief_in(row, state.scope(row[0]).frame))


def _step(state: RunState, body: Body) -> None:
    state.steps.setdefault(body["under"], []).append(body)
    _counted(state, body)


def _rehearsed(state: RunState, body: Body) -> None:
    state.scope(body["scope"]).rehearsed[body["place"]] = (body["outcome"], body["changed"])


def _frame(state: RunState, body: Body) -> None:
    path = body["frame"]["path"]
    scope = state.scope(path)
    scope.plan, scope.frame = body["plan"], body["frame"]
    state.scope(body["scope"]).frames[body["frame"]["caller"], body["target"]] = path
    state.sources.update(body.get("sources", {}))


def _frame_ended(state: RunState, body: Body) -> None:
    state.scope(body["path"]).ended = True


def _stand_in(state: RunState, body: Body) -> None:
    answer = body["answer"]
    state.scope(body["scope"]).stand_ins[answer["under"], body["target"]] = body
    _counted(state, answer)


def _listened(state: RunState, body: Body) -> None:
    state.scope(body["scope"]).listened[body["place"]] = body
    _counted(state, body["answer"])


def _end(state: RunState, body: Body) -> None:
    state.end = body


_READERS: dict[str, Any] = {
    "run": _head,
    "resumed": _resumed,
    "sources": _sources,
    "plan": _plan,
    "start": _started,
    "done": _done,
    "rows": _rows,
    "step": _step,
    "rehearsed": _rehearsed,
    "frame": _frame,
    "frame-end": _frame_ended,
    "stand-in": _stand_in,
    "listened": _listened,
    "end": _end,
}
