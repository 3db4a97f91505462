"""The plan: which step waits for which, and the sequence in which everything runs.

Steps are numbers: the index of a chunk; beyond these the joins, one for each file or
pattern that is required as a whole; below zero the rehearsals (``~index``).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from saltern.language.chunk import Chunk
from saltern.language.requisites import RequisiteKind, When


class Need(Struct, frozen=True, gc=False):
    """A chunk waits for a step, by a kind of requisite. ``on`` is the index of a chunk or of a join."""

    kind: RequisiteKind
    on: int


class Listener(Struct, frozen=True, gc=False):
    """A chunk reacts at the end of the run if another has changed, in the order of declaration.

    Each is the index of a chunk, or of a join that stands for many.
    """

    index: int
    to: int


class Plan(Struct, kw_only=True):
    """What will run. ``sequence`` has the indexes and rehearsals in execution order."""

    chunks: list[Chunk]
    rendered: tuple[str, ...] = ()  # the names of all its files
    needs: dict[int, tuple[Need, ...]] = field(default_factory=dict)
    preparers: dict[int, tuple[int, ...]] = field(
        default_factory=dict
    )  # index → the chunks with a prereq on it
    joins: list[list[int]] = field(default_factory=list)  # the members of join len(chunks) + n
    join_names: dict[int, str] = field(default_factory=dict)  # join → its file or pattern
    sequence: list[int] = field(default_factory=list)
    pulled_by: dict[int, int] = field(default_factory=dict)  # index → the index that pulled it forward
    listeners: list[Listener] = field(default_factory=list)
    groups: dict[int, tuple[int, ...]] = field(default_factory=dict)  # index → its group

    def behind(self, step: int) -> Sequence[int]:
        """The chunks that a step stands for, whether they run or are rehearsed."""
        if step < len(self.chunks):
            return (step,)
        return [~one if one < 0 else one for one in self.joins[step - len(self.chunks)]]

    def answer_chunks(self) -> Sequence[Chunk]:
        """All chunks that may answer: the chunks, and again those that listen."""
        if not self.listeners:
            return self.chunks
        steps = dict.fromkeys(one.index for one in self.listeners)
        listeners = dict.fromkeys(index for step in steps for index in self.behind(step))
        return [*self.chunks, *(listener_chunk(self.chunks[index]) for index in listeners)]


def listener_chunk(chunk: Chunk) -> Chunk:
    """The chunk for a listener's reaction at the end of the run."""
    return replace(chunk, id=f"listener_{chunk.label}", fun="mod_watch", requisites=())


def is_parallel(plan: Plan, index: int) -> bool:
    """True if the chunk runs in its own process, in parallel with others."""
    chunk = plan.chunks[index]
    return "parallel" in chunk.words and bool(chunk.args["parallel"])


def steps_before(plan: Plan, step: int) -> list[int]:
    """The steps that must be done directly before a step, in order."""
    size = len(plan.chunks)
    if step >= size:
        return plan.joins[step - size]
    index = ~step if step < 0 else step
    before = [
        ~need.on if need.kind.when is When.REHEARSED and need.on < size else need.on
        for need in plan.needs.get(index, ())
    ]
    if step >= 0 and index in plan.preparers:
        before += plan.preparers[index]
    return before
