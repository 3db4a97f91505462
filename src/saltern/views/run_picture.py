"""The picture of a run: its plan, each frame as a box, each state coloured by its answer."""

from __future__ import annotations

from collections.abc import Sequence

from saltern.journal.chunk_codec import chunks_in
from saltern.journal.codec import answer_in, frame_in
from saltern.journal.run_state import RunState, ScopeState
from saltern.language.diagnostics import Diagnostics
from saltern.language.events import Answer
from saltern.plan.make import make_plan
from saltern.report.text import safe_line
from saltern.report.verdict import with_steps
from saltern.views.picture import DELAYED, Edge, Item, Picture, of_plan
from saltern.views.run_fold import folded_run, is_huge
from saltern.views.run_status import status_of, steps_below


def of_run(state: RunState) -> Picture:
    """The picture of a run: state by state, or folded if there are too many."""
    only = bool((state.head.get("request") or {}).get("id"))
    if state.has_plan and is_huge(state):
        return folded_run(state, only_reached=only)
    picture = _scope(state, "") if state.has_plan else Picture()
    return _reached_states(picture) if only else picture


def _reached_states(picture: Picture) -> Picture:
    """The picture without the states that a run for one ID did not include."""
    items = [item for item in picture.items if item.status != "waiting"]
    known = {item.key for item in items}
    edges = [edge for edge in picture.edges if edge.start in known and edge.end in known]
    return Picture(items=items, edges=edges)


def _scope(state: RunState, path: str) -> Picture:
    scope = state.scopes[path]
    chunks = chunks_in(scope.plan, state.sources)
    plan = make_plan(chunks, scope.plan["rendered"], Diagnostics())
    prefix = f"{safe_line(path)}:" if path else ""  # it contains names of others
    picture = of_plan(plan, prefix=prefix, boxes=False)
    numbers: dict[int, str] = {}
    for item in picture.items:
        index = int(item.key.removeprefix(prefix))
        if item.kind == "state":
            item.status = "waiting"
            if index in scope.done:
                answer = answer_in(scope.done[index]["answer"], chunks[index])
                _add_answer(item, answer, list(steps_below(state, answer.number)))
                numbers[answer.number] = item.key
    _add_frames(state, scope, picture, numbers)
    return picture


def _add_answer(item: Item, answer: Answer, steps: Sequence[Answer]) -> None:
    item.status = status_of(answer, with_steps([answer, *steps]).get(answer.number))
    item.facts["result"] = {
        "status": item.status,
        "comment": answer.result.comment,
        "took": answer.took if answer.timed else None,
        "number": answer.number,
        "steps": len(steps),
    }


def _add_frames(state: RunState, scope: ScopeState, picture: Picture, numbers: dict[int, str]) -> None:
    for (caller, _), path in scope.frames.items():
        inner = state.scopes[path]
        if inner.frame is None or caller not in numbers:
            continue
        frame = frame_in(inner.frame)
        inside = _scope(state, path)
        at = next(at for at, item in enumerate(picture.items) if item.key == numbers[caller])
        scope_of = (
            f"of {frame.kind} {frame.name!r}, rendered right after {picture.items[at].title!r}; it contains:"
        )
        for item in inside.items:
            item.facts["why"] = [scope_of, *_texts(item.facts.get("why"))]
        count = sum(item.kind == "state" for item in inside.items)
        below = f"rendered during the run · {'1 state' if count == 1 else f'{count} states'}"
        box = Item(
            key=safe_line(path),
            kind="box",
            title=f"{frame.kind} {frame.name}",
            below=below,
            facts={"where": str(frame.where), "path": path},
            inside=inside,
        )
        picture.items.insert(at + 1, box)
        picture.edges.append(Edge(DELAYED, numbers[caller], box.key))


def _texts(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []
