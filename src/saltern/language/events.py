"""The events of a run, and its final report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from saltern.language.chunk import HIDDEN, Chunk
from saltern.language.delayed import Block, Frame
from saltern.language.diagnostics import Diagnostic
from saltern.language.result import Result


class Answer(Struct, frozen=True, kw_only=True, gc=False):
    """One result of a run, with its number, when it began and how long it took (seconds)."""

    chunk: Chunk
    result: Result
    number: int
    started: float = 0.0
    took: float = 0.0
    timed: bool = True  # False: nothing was called, so there is no time to report
    parallel: bool = False
    parent: str = ""  # tag of the answer that spawned this one, with its path
    under: int = -1  # its number
    depth: int = 0
    frame: str = ""  # path of the delayed frame it belongs to
    sub: bool = False  # a step that its parent reported

    @property
    def path(self) -> str:
        """Its path in the run: ``my_state1>A#1>my_state2``; its ID outside of frames."""
        return f"{self.frame}>{self.chunk.label}" if self.frame else self.chunk.label

    @property
    def tag(self) -> str:
        """The chunk's tag, in four parts; in a delayed frame, with the whole path in place of the ID."""
        return tag_in(self.chunk, self.frame) if self.frame else self.chunk.tag

    @property
    def has_start(self) -> bool:
        """True if its start is known; for a step, its duration may still be unknown."""
        return self.started > 0 if self.sub else self.timed


def tag_in(chunk: Chunk, frame: str) -> str:
    """The tag of a chunk in the delayed frame with this path; an empty one is the run itself."""
    if not frame:
        return chunk.tag
    name = HIDDEN if chunk.hidden else chunk.name
    return f"{chunk.state}_|-{frame}>{chunk.label}_|-{name}_|-{chunk.fun}"


def in_order(answers: Iterable[Answer]) -> list[Answer]:
    """The answers by number, with the steps of a state right after it: while it ran in parallel, other states
    may have taken numbers before its steps were reported."""
    roots: dict[int, int] = {}
    ordered = sorted(answers, key=lambda answer: answer.number)
    for answer in ordered:
        if answer.sub:
            roots[answer.number] = roots.get(answer.under, answer.under)
    if roots:
        ordered.sort(key=lambda answer: (roots.get(answer.number, answer.number), answer.number))
    return ordered


class RunStarted(Struct, frozen=True, kw_only=True):
    """A run has begun. ``chunks`` are all that may answer."""

    total: int
    test: bool = False
    started: float = 0.0
    chunks: Sequence[Chunk] = ()


class ChunkStarted(Struct, frozen=True):
    chunk: Chunk
    started: float
    frame: str = ""  # path of the delayed frame it belongs to
    held: bool = False  # it is not called, for example because a requisite failed

    @property
    def tag(self) -> str:
        return tag_in(self.chunk, self.frame)

    @property
    def is_outer_call(self) -> bool:
        """True if it is called, and not part of a delayed frame."""
        return not self.frame and not self.held


class ChunkFinished(Struct, frozen=True):
    answer: Answer


class FrameStarted(Struct, frozen=True):
    """A delayed target has been rendered; its states come next. ``chunks`` are all that may answer."""

    frame: Frame
    chunks: Sequence[Chunk] = ()


class FrameFinished(Struct, frozen=True):
    frame: Frame


class Fired(Struct, frozen=True):
    """The event that a state requested with ``fire_event``."""

    tag: str
    data: dict[str, object]


class RunFinished(Struct, frozen=True, kw_only=True):
    took: float
    stopped: str = ""  # why the run ended early, if it did


Event = RunStarted | ChunkStarted | ChunkFinished | FrameStarted | FrameFinished | Fired | RunFinished


class Report(Struct, kw_only=True):
    """A whole run.

    ``forgiven`` are the numbers of answers whose failure was handled by a state with ``onfail_stop: False``;
    ``unused`` are delayed blocks that no state called; ``sources`` are the commits of the git repositories
    that the files came from, by their addresses.
    """

    answers: list[Answer] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    test: bool = False
    took: float = 0.0
    stopped: str = ""
    forgiven: frozenset[int] = frozenset()
    frames: list[Frame] = field(default_factory=list)
    unused: list[Block] = field(default_factory=list)
    jid: str = ""
    sources: dict[str, str] = field(default_factory=dict)
