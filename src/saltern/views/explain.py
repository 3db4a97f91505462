"""Explains why a state runs at its position, as sentences and as data."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from saltern.language.chunk import Chunk
from saltern.language.hidden import labels as labels_of
from saltern.language.hidden import relabel_text, shown_chunks
from saltern.plan.plan import Plan
from saltern.plan.reasons import Tie, positions, pullers, reason, ties, title
from saltern.report.colours import Paint
from saltern.report.text import safe_line

MOST_LINES = 40  # lines of the source of one state


class Relation(Struct, frozen=True, kw_only=True):
    """A state that this one waits for, or that waits for this one. ``position`` 0: a whole file."""

    kind: str
    title: str
    position: int = 0
    where: str = ""
    step: int = -1


class Explanation(Struct, frozen=True, kw_only=True):
    """``source`` are the lines of the file, before rendering.

    ``include_path`` leads from the requested file to the one that declares the state.
    """

    id: str
    function: str
    name: str
    position: int
    total: int
    where: str
    source: str
    include_path: tuple[str, ...]
    why: tuple[str, ...]
    waits_for: tuple[Relation, ...]
    waited_for_by: tuple[Relation, ...]
    renders: tuple[str, ...]


class Explainer:
    """Answers for one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = replace(plan, chunks=shown_chunks(plan.chunks))
        self._written_as = plan.chunks
        self._labels = labels_of(plan.chunks)
        self.positions = positions(plan)
        self._names = plan.join_names
        self._before: dict[int, list[Tie]] = {}
        self._after: dict[int, list[Tie]] = {}
        for tie in ties(plan):
            self._before.setdefault(tie.after, []).append(tie)
            self._after.setdefault(tie.before, []).append(tie)
        self._joins: dict[int, list[int]] = {}
        for at, members in enumerate(plan.joins, len(plan.chunks)):
            for one in members:
                self._joins.setdefault(one, []).append(at)

    def find(self, word: str) -> list[int]:
        """The states with this ID or name, or ``fun id`` or ``state: id``, in the order in which they run."""
        state, _, id_ = word.partition(" ")
        found = [index for index, chunk in enumerate(self._written_as) if word in (chunk.id, chunk.name)]
        if not found and id_:
            kind = state.removesuffix(":")
            found = [
                index
                for index, chunk in enumerate(self._written_as)
                if kind in (chunk.state, chunk.function) and id_ in (chunk.id, chunk.name)
            ]
        return sorted(found, key=lambda index: self.positions.get(index, 0))

    def explain(self, index: int) -> Explanation:
        chunk = self.plan.chunks[index]
        return Explanation(
            id=chunk.id,
            function=chunk.function,
            name=chunk.name,
            position=self.positions.get(index, 0),
            total=len(self.positions),
            where=str(chunk.mark()),
            source=relabel_text(source(chunk), self._labels),
            include_path=(*reversed(chunk.declared.included_from), chunk.sls),
            why=tuple(self._why(index)),
            waits_for=tuple(self._preceding_relations(index)),
            waited_for_by=tuple(self._followers(index)),
            renders=tuple(f"{one.kind} {one.name} ({one.place()})" for one in chunk.delayed),
        )

    def _why(self, index: int) -> Iterator[str]:
        yield reason(self.plan, index)
        chain = pullers(self.plan, index)
        for by in chain:
            yield f"{self._at(by)} is at its position by {reason(self.plan, by)}"
        if chain:
            written = f"number {index + 1} of {len(self.plan.chunks)}: {self._written_before(index)}"
            yield f"without that it would be {written}"
        elif "order" not in self.plan.chunks[index].words:
            yield self._written_before(index)

    def _written_before(self, index: int) -> str:
        chunk = self.plan.chunks[index]
        if index == 0:
            return "nothing is written before it"
        before = self.plan.chunks[index - 1]
        same = before.sls == chunk.sls
        file = "in the same file" if same else f"in {before.sls}"
        return f"the state written before it is {title(before)}, {file}"

    def _preceding_relations(self, index: int) -> Iterator[Relation]:
        for tie in self._before.get(index, ()):
            yield self._relation(tie.kind, tie.before)
        for join in self._joins.get(~index, ()):
            for tie in self._before.get(join, ()):
                yield self._relation(f"{tie.kind} (all of {self._names.get(join, '')})", tie.before)

    def _followers(self, index: int) -> Iterator[Relation]:
        for tie in self._after.get(index, ()):
            yield self._relation(tie.kind, tie.after)
        for join in self._joins.get(index, ()):
            for tie in self._after.get(join, ()):
                yield self._relation(f"{tie.kind} (all of {self._names.get(join, '')})", tie.after)

    def _relation(self, kind: str, step: int) -> Relation:
        size = len(self.plan.chunks)
        if step >= size:
            count = len(self.plan.joins[step - size])
            states = "1 state" if count == 1 else f"{count} states"
            return Relation(
                kind=kind, title=f"all of sls {self._names.get(step, '')!r} ({states})", step=step
            )
        chunk = self.plan.chunks[step]
        return Relation(
            kind=kind,
            title=title(chunk),
            position=self.positions.get(step, 0),
            where=str(chunk.mark()),
            step=step,
        )

    def _at(self, index: int) -> str:
        return f"{title(self.plan.chunks[index])} (number {self.positions.get(index, 0)})"


def source(chunk: Chunk) -> str:
    """The text of the state in its file, from its ID to the next line that begins something else."""
    origin = chunk.declared.origin
    text = str(getattr(origin, "source", "") or getattr(origin, "text", ""))
    at = origin.mark((chunk.id,)).line
    rows = text.splitlines()[at - 1 : at - 1 + MOST_LINES] if at else []
    end = next(
        (index for index, row in enumerate(rows) if index and row[:1] not in ("", " ", "-", "{")), None
    )
    return "\n".join(rows[:end]).rstrip()


def lines(one: Explanation, paint: Paint) -> Iterator[str]:
    """The explanation for a terminal."""
    named = f" (name: {one.name})" if one.name != one.id else ""
    yield paint(safe_line(f"{one.function} {one.id!r}"), "bold") + safe_line(named)
    yield f"  runs as number {one.position} of {one.total}"
    yield f"  written at {paint(safe_line(one.where), 'grey')}"
    if len(one.include_path) > 1:
        yield safe_line(f"  included by {' → '.join(one.include_path)}")
    yield f"  {paint('why there', 'cyan')}:"
    yield from (safe_line(f"    {text}") for text in one.why)
    yield from _relation_lines("waits for", one.waits_for, paint)
    yield from _relation_lines("waited for by", one.waited_for_by, paint)
    if one.renders:
        yield f"  {paint('rendered right after it', 'cyan')}:"
        yield from (safe_line(f"    {text}") for text in one.renders)


def _relation_lines(heading: str, relations: tuple[Relation, ...], paint: Paint) -> Iterator[str]:
    yield f"  {paint(heading, 'cyan')}:{'' if relations else ' nothing'}"
    for one in relations:
        number = f"number {one.position}, " if one.position else ""
        position = paint(safe_line(f" ({number}{one.where})"), "grey") if one.where else ""
        yield f"    {paint(one.kind, 'yellow')}: {safe_line(one.title)}{position}"


def labels(chunk: Chunk) -> tuple[str, str]:
    """Two short lines for a picture."""
    return chunk.id, f"{chunk.function} · {chunk.sls}"
