"""What a run tells while it happens, and what it has told in the end."""

from __future__ import annotations

from msgspec import Struct, field

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostic
from saltern.language.result import Result


class Answer(Struct, frozen=True, kw_only=True, gc=False):
    """One result of a run, with its number, when it began and how long it took (seconds)."""

    chunk: Chunk
    result: Result
    number: int
    started: float = 0.0
    took: float = 0.0
    timed: bool = True  # False: nothing was called, so there is no time to tell
    parallel: bool = False
    parent: str = ""  # tag of the answer that spawned this one
    depth: int = 0


class RunStarted(Struct, frozen=True, kw_only=True):
    total: int
    test: bool = False
    started: float = 0.0


class ChunkStarted(Struct, frozen=True):
    chunk: Chunk
    started: float


class ChunkFinished(Struct, frozen=True):
    answer: Answer


class Fired(Struct, frozen=True):
    """``fire_event``: an event a state asked for."""

    tag: str
    data: dict[str, object]


class RunFinished(Struct, frozen=True, kw_only=True):
    took: float
    stopped: str = ""  # why the run ended early, if it did


Event = RunStarted | ChunkStarted | ChunkFinished | Fired | RunFinished


class Report(Struct, kw_only=True):
    """A whole run. ``forgiven`` are tags whose failure a handler with ``onfail_stop: False`` has mended."""

    answers: list[Answer] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    test: bool = False
    took: float = 0.0
    stopped: str = ""
    forgiven: frozenset[str] = frozenset()
