"""Records → the state of a run: a pure function, so that any prefix of a journal has one meaning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from saltern.journal.codec import brief_in
from saltern.journal.form import Record
from saltern.journal.run_state import Body, RunState
from saltern.system.boot import is_same_boot


def fold(records: Iterable[Record]) -> RunState:
    state = RunState()
    for record in records:
        state.records = record.seq + 1
        reader = _READERS.get(record.kind)
        if reader is not None:  # records of later versions are skipped
            reader(state, record.body)
    return state


def _count_answer(state: RunState, body: Body) -> None:
    state.number = max(state.number, int(body["number"]) + 1)


def _head(state: RunState, body: Body) -> None:
    state.head = body
    state.boot = body.get("boot") or {}


def take_up(state: RunState, body: Body) -> None:
    """Another process resumes the run."""
    planned, boot = bool(body.get("planned")), body.get("boot") or {}
    state.resumed += not planned  # continuing after a barrier does not count
    kept = planned or state.end is not None or is_same_boot(state.boot, boot)
    state.unsure = state.unsure or not kept
    if planned:
        state.fresh.clear()  # an orderly shutdown writes everything
    elif not is_same_boot(state.boot, boot):
        state.suspect |= state.fresh
        state.fresh.clear()
    state.boot = boot
    state.end = None
    _lose_steps(state)


def _sure(state: RunState, _: Body) -> None:
    state.unsure = False


def _lose_steps(state: RunState) -> None:
    """Move the steps of a broken call aside: the state may be called again."""
    known = {body["answer"]["number"] for one in state.scopes.values() for body in one.done.values()}
    known |= {body["answer"]["number"] for one in state.scopes.values() for body in one.listened.values()}
    known |= {body["number"] for body in state.barriers if body["when"] == "after"}
    for parent in sorted(state.steps):
        if parent in known:
            known.update(body["number"] for body in state.steps[parent])
        else:
            state.lost[parent] = state.steps.pop(parent)
            state.tried.pop(parent, None)


def _sources(state: RunState, body: Body) -> None:
    state.sources.update(body)


def _plan(state: RunState, body: Body) -> None:
    state.scope("").plan = body


def _started(state: RunState, body: Body) -> None:
    scope = state.scope(body["scope"])
    scope.started[body["place"]] = {**body, "boot": state.boot}
    if scope.done.pop(body["place"], None):  # its changes were lost: it runs again
        state.suspect.discard(body["place"])
    _count_answer(state, body)
    for barrier in state.barriers:
        if (barrier["scope"], barrier["place"]) == (body["scope"], body["place"]):
            barrier["fresh"] = not barrier["outcome"]  # called again since


def _done(state: RunState, body: Body) -> None:
    state.scope(body["scope"]).done[body["place"]] = body
    _count_answer(state, body["answer"])
    if not body["scope"]:
        state.suspect.discard(body["place"])
        if body["answer"]["result"]["changes"] and state.barrier("", body["place"]) is None:
            state.fresh.add(body["place"])  # but not a reboot: requesting it again would be another one


def _rows(state: RunState, rows: Sequence[Sequence[Any]]) -> None:
    for row in rows:
        _done(state, brief_in(row, state.scope(row[0]).frame))


def _step(state: RunState, body: Body) -> None:
    state.steps.setdefault(body["under"], []).append(body)
    _count_answer(state, body)


def _tried(state: RunState, body: Body) -> None:
    state.tried.setdefault(body["under"], []).extend(_all_below(state, body["under"]))


def _all_below(state: RunState, number: int) -> Iterator[Body]:
    for step in state.steps.pop(number, []):
        yield step
        yield from _all_below(state, step["number"])


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
    _count_answer(state, answer)


def _listened(state: RunState, body: Body) -> None:
    state.scope(body["scope"]).listened[body["place"]] = body
    _count_answer(state, body["answer"])


def _barrier(state: RunState, body: Body) -> None:
    state.barriers.append({**body, "outcome": "", "armed": [], "off": False, "fresh": True})
    _count_answer(state, body)


def _armed(state: RunState, body: Body) -> None:
    """The run is to be resumed, even if a user interrupted it before."""
    state.end = None
    for barrier in state.open_barriers:
        if barrier["kind"] == body["kind"]:
            barrier |= {"armed": [*barrier["armed"], body], "off": False}


def _disarmed(state: RunState, body: Body) -> None:
    """The barrier was cancelled: it is requested again when the run is resumed."""
    for barrier in state.open_barriers:
        if barrier["kind"] == body["kind"]:
            barrier |= {"armed": [], "off": True}


def _crossed(state: RunState, body: Body) -> None:
    """``why`` is set if the barrier was not crossed and never will be. A requested boot loses nothing."""
    if body["kind"] == "reboot" and not body["why"]:
        state.boot = body["now"]
        state.fresh.clear()
    for barrier in state.open_barriers:
        if barrier["kind"] == body["kind"]:
            barrier |= {
                "outcome": "failed" if body["why"] else "crossed",
                "why": body["why"],
                "now": body["now"],
            }


def _end(state: RunState, body: Body) -> None:
    state.end = body


_READERS: dict[str, Any] = {
    "run": _head,
    "resumed": take_up,
    "sure": _sure,
    "sources": _sources,
    "plan": _plan,
    "start": _started,
    "done": _done,
    "rows": _rows,
    "step": _step,
    "tried": _tried,
    "rehearsed": _rehearsed,
    "frame": _frame,
    "frame-end": _frame_ended,
    "stand-in": _stand_in,
    "listened": _listened,
    "barrier": _barrier,
    "armed": _armed,
    "disarmed": _disarmed,
    "crossed": _crossed,
    "end": _end,
}
