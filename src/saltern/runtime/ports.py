"""All the runtime knows of the world."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from saltern.language.chunk import Chunk
from saltern.language.delayed import Target
from saltern.language.events import Answer, Event
from saltern.language.result import Result, SubResult
from saltern.plan.plan import Plan

Allowed = Callable[[Chunk], bool]
Emit = Callable[[SubResult], None]


class Caller(Protocol):
    """Calls module functions. Never raises for what a module does: that is a failed result."""

    def call(
        self, chunk: Chunk, args: Mapping[str, object], *, test: bool, emit: Emit | None = None
    ) -> Result:
        """``emit`` is given each step of the state as it happens; the result may carry further ones."""
        ...

    def react(self, chunk: Chunk, args: Mapping[str, object], *, fun: str, test: bool) -> Result:
        """The module's ``mod_watch``, told the function ``fun`` that the state names."""
        ...

    def reacts(self, state: str) -> bool: ...

    def guarded_by_itself(self, state: str) -> bool:
        """The module evaluates onlyif and unless itself (``mod_run_check``)."""
        ...

    def function(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """An execution function, for conditions and slots. Raises ``LookupError`` if there is none."""
        ...

    def command(self, command: str, options: Mapping[str, object]) -> int:
        """The exit code of a shell command, for conditions and check_cmd."""
        ...

    def takes(self, chunk: Chunk, word: str) -> bool:
        """The function has a parameter of this name, so the word is its own business."""
        ...

    def exists(self, path: str) -> bool: ...

    def aggregate(self, chunk: Chunk, group: Sequence[Chunk], answered: Mapping[str, Answer]) -> Chunk:
        """The chunk, enlarged by what the module can do of the others at the same time."""
        ...

    def aggregates(self, state: str) -> bool: ...

    def refresh(self, what: frozenset[str]) -> None:
        """Look again: ``modules``, ``grains``, ``pillar``."""
        ...


class Recorder(Protocol):
    """Is told everything that happens, in order."""

    def __call__(self, event: Event) -> None: ...


class Call(Struct, frozen=True, kw_only=True):
    """A target that is due. ``result`` is all its caller knows, whatever ``answer`` hides from the report;
    ``steps`` are its sub states, ``earlier`` the answers of the caller's targets before it."""

    target: Target
    answer: Answer
    result: Result
    steps: Sequence[Answer]
    earlier: Sequence[Answer]


class Unrendered(Exception):
    """A target that cannot be rendered or compiled; the text is for the user."""


class FrameMaker(Protocol):
    """Renders and compiles a delayed target."""

    def make(self, call: Call) -> Plan:
        """The states of the frame; they are the run's until ``leave``. Raises ``Unrendered``."""
        ...

    def leave(self) -> None:
        """The frame last made has run."""
        ...
