"""All the runtime knows of the world."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from saltern.language.chunk import Chunk
from saltern.language.delayed import Frame, Target
from saltern.language.events import Answer, Event
from saltern.language.nature import Nature
from saltern.language.requisites import Standing
from saltern.language.result import Result, SubResult
from saltern.plan.plan import Plan
from saltern.runtime.recovery import NO_TRACES, Traces

if TYPE_CHECKING:
    from saltern.language.barriers import Barrier, Crossing
    from saltern.runtime.progress import Begun

Allowed = Callable[[Chunk], bool]


ResumeQuestion = Callable[[Chunk], str]
"""Asks what to do with a state that was interrupted in its call: ``rerun``, ``skip`` or ``fail``."""

Emit = Callable[[SubResult], None]
"""Takes a step of a state as it happens; ``substates.SubStates.add``."""


class Steps(Protocol):
    """The sub states of one call; ``substates.SubStates``. ``answers`` are those of the last attempt."""

    answers: list[Answer]

    def add(self, step: SubResult) -> None: ...
    def start_again(self) -> None: ...


class Caller(Protocol):
    """Calls module functions. Never raises for what a module does: that is a failed result."""

    def call(
        self, chunk: Chunk, args: Mapping[str, object], *, test: bool, emit: Emit | None = None
    ) -> Result:
        """``emit`` is given each step of the state as it happens; the result may carry further ones."""
        ...

    def react(self, chunk: Chunk, args: Mapping[str, object], *, fun: str, test: bool) -> Result:
        """The module's ``mod_watch``; ``fun`` is the function that the state names."""
        ...

    def reacts(self, state: str) -> bool: ...

    def guarded_by_itself(self, state: str) -> bool:
        """The module evaluates onlyif and unless itself (``mod_run_check``)."""
        ...

    def function(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """An execution function, for conditions and slots. Raises ``LookupError`` if there is none."""
        ...

    def function_and_code(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[object, int]:
        """The same, with the exit code that the function left behind; 0 if it left none."""
        ...

    def command(self, command: str, options: Mapping[str, object]) -> int:
        """The exit code of a shell command, for conditions and check_cmd."""
        ...

    def nature(self, state: str, fun: str) -> Nature:
        """What the function is to the engine, as its module declares it."""
        ...

    def takes(self, chunk: Chunk, word: str) -> bool:
        """The function has a parameter of this name, so the engine leaves the word to it."""
        ...

    def exists(self, path: str) -> bool: ...

    def aggregate(self, chunk: Chunk, group: Sequence[Chunk], answered: Mapping[str, Answer]) -> Chunk:
        """The chunk, enlarged by what the module can do of the others at the same time."""
        ...

    def aggregates(self, state: str) -> bool: ...

    def refresh(self, what: frozenset[str]) -> None:
        """Look again: ``modules``, ``grains``, ``pillar``."""
        ...

    def arrived(self, crossing: Crossing | None) -> None:
        """The state that is called next had asked for a barrier, and is called again on its other side."""
        ...


class KnownChunk(Struct, frozen=True, kw_only=True):
    """What is known of a chunk from before the run broke: its answer, or only that it was ``started``.

    One with a ``crossing`` has asked for a barrier; ``result`` is what it said then. Of one that is
    ``suspect``, the power was lost after it had changed something: that may be gone.
    """

    answer: Answer | None = None
    result: Result | None = None
    steps: Sequence[Answer] = ()
    tried: Sequence[Answer] = ()  # the steps of attempts that were not the last
    started: Begun | None = None
    traces: Traces = NO_TRACES  # of what was started and has not answered
    crossing: Crossing | None = None
    suspect: bool = False


Planner = Callable[[Sequence[Chunk], Sequence[str]], Plan]


class Journal(Protocol):
    """Writes down what a run does, before that counts as done.

    ``scope`` is the path of a frame, empty for the run itself; ``target`` is the index of an entry among
    those of its caller. Raises ``OperationError`` when it cannot write: then nothing more may be done.
    """

    @property
    def past(self) -> Past | None:
        """What an earlier process has done of the same run; None if there was none."""
        ...

    def starting(self, scope: str, index: int, begun: Begun, plan: Plan) -> bool:
        """A chunk is about to be called; the complement of its index: it is about to react as a listener.

        True if an earlier process may have called it, and a loss of power has taken the record of that.
        """
        ...

    def finished(self, scope: str, index: int, answer: Answer, result: Result) -> None: ...
    def barrier(self, scope: str, index: int, begun: Begun, barrier: Barrier, result: Result) -> None: ...
    def step(self, answer: Answer) -> None: ...
    def tried(self, number: int) -> None:
        """The steps that this answer has had so far belong to an attempt that was not the last."""
        ...

    def rehearsed(self, scope: str, index: int, standing: Standing) -> None: ...
    def frame(self, scope: str, target: int, frame: Frame, plan: Plan) -> None: ...
    def frame_ended(self, frame: Frame) -> None: ...
    def stand_in(self, scope: str, target: int, answer: Answer) -> None: ...
    def listened(self, scope: str, index: int, answer: Answer) -> None: ...


class Past(Protocol):
    """What an earlier process has written of a run that broke. ``caller`` is the number of an answer."""

    @property
    def number(self) -> int:
        """The next run number."""
        ...

    def known(self, scope: str, index: int, chunk: Chunk) -> KnownChunk | None: ...
    def rehearsal(self, scope: str, index: int) -> Standing | None: ...
    def frame(self, scope: str, caller: int, target: int) -> tuple[Frame, Plan] | None: ...
    def stand_in(self, scope: str, caller: int, target: int) -> Answer | None: ...
    def reaction(self, scope: str, index: int) -> KnownChunk | None:
        """What is known of a listener."""
        ...

    def reuse_programs(self, number: int) -> None:
        """Let the next call of this state take the results that its programs had, and run none of them."""
        ...


EventSink = Callable[[Event], None]
"""Is given everything that happens, in order."""


class EarlierReturns(Struct):
    """The returns of a caller's earlier targets, as its later ones see them: kept, since they may be many.

    ``suspect``: some hold what only files may say.
    """

    returns: list[dict[str, object]] = field(default_factory=list)
    suspect: bool = False


class Call(Struct, frozen=True, kw_only=True):
    """A target that is due. ``result`` is all its caller knows, whatever ``answer`` hides from the report;
    ``steps`` are its sub states, ``earlier`` the answers of the caller's targets before it."""

    target: Target
    answer: Answer
    result: Result
    steps: Sequence[Answer]
    earlier: Sequence[Answer]
    returns: EarlierReturns


class Unrendered(Exception):
    """A target that cannot be rendered or compiled; the text is for the user."""


class FrameMaker(Protocol):
    """Renders and compiles a delayed target."""

    def make(self, call: Call) -> Plan:
        """The states of the frame; they are the run's until ``leave``. Raises ``Unrendered``."""
        ...

    def enter(self, plan: Plan) -> None:
        """The same, for a frame that was made before the run broke."""
        ...

    def leave(self) -> None:
        """The frame last made has run."""
        ...
