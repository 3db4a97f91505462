"""What a run and all its delayed frames share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec import Struct, field

from saltern.language.chunk import Chunk
from saltern.language.delayed import Frame, Limit, Target
from saltern.language.events import Answer
from saltern.system.run_numbers import run_number

if TYPE_CHECKING:
    from saltern.runtime.ports import Allowed, Caller, EventSink, FrameMaker, Journal, Past, ResumeQuestion
    from saltern.system.clock import Clock


class Bounds(Struct, frozen=True, kw_only=True):
    """The limits of delayed rendering in one run."""

    limit: Limit = 1  # the default for tags without a limit
    depth: int = 50
    frames: int = 1000


class Used(Struct):
    """What was rendered late so far, over all scopes of a run."""

    frames: int = 0
    by: dict[tuple[str, ...], list[str]] = field(default_factory=dict)  # definition → paths of its callers
    paths: set[str] = field(default_factory=set)  # of all frames

    def take(self, target: Target, caller: str) -> int:
        """Count the next frame of this definition; return its number."""
        self.frames += 1
        users = self.by.setdefault(target.definition, [])
        users.append(caller)
        return len(users)

    def path(self, target: Target, caller: str, number: int) -> str:
        """``caller>block#1``; if two files have blocks of the same name, the second is ``#2``."""
        while (path := f"{caller}>{target.title}#{number}") in self.paths:
            number += 1
        self.paths.add(path)
        return path


class RunOptions(Struct, frozen=True, kw_only=True):
    """The options of the configuration and the command line for the runtime."""

    test: bool = False
    failhard: bool = False
    max_parallel: int = 0
    events: bool = False  # send an event for every state
    allowed: Allowed | None = None
    disabled: Callable[[Chunk], bool] | None = None
    bounds: Bounds = Bounds()
    resume_question: ResumeQuestion | None = None  # for states with ``resume: ask``; None: they fail


class RunShared(Struct):
    """What a run and all its frames share. ``past`` is None unless an earlier process began the run."""

    caller: Caller
    clock: Clock
    options: RunOptions
    on_event: EventSink | None
    maker: FrameMaker | None
    journal: Journal | None = None
    past: Past | None = None
    number: int = 0  # the next
    jid: str = ""  # the last one given
    listing: list[Answer] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    forgiven: set[int] = field(default_factory=set)
    apart: set[int] = field(default_factory=set)  # failures that do not count for waiting chunks
    used: Used = field(default_factory=Used)

    def forgive(self, answers: Iterable[Answer]) -> None:
        """Exclude the answers of an earlier attempt from every count."""
        numbers = [answer.number for answer in answers]
        self.apart.update(numbers)
        self.forgiven.update(numbers)

    def next_jid(self) -> str:
        """Twenty digits of time, like Salt's job ids; never the same twice."""
        self.jid = run_number(self.clock.now(), self.jid)
        return self.jid
