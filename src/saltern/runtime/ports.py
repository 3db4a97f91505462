"""The interfaces between the runtime and the rest."""

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
"""Asks what to do with a state whose call was interrupted: ``rerun``, ``skip`` or ``fail``."""

Emit = Callable[[SubResult], None]
"""Takes a step of a state as it happens; ``substates.SubStates.add``."""


class Steps(Protocol):
    """The sub states of one call; ``substates.SubStates``. ``answers`` are those of the last attempt."""

    answers: list[Answer]

    def add(self, step: SubResult) -> None: ...
    def start_again(self) -> None: ...


class Caller(Protocol):
    """Calls module functions. Never raises for an error in a module: that is a failed result."""

    def call(
        self, chunk: Chunk, args: Mapping[str, object], *, test: bool, emit: Emit | None = None
    ) -> Result:
        """Call a state. ``emit`` gets each step as it happens; the result may contain further steps."""
        ...

    def react(self, chunk: Chunk, args: Mapping[str, object], *, fun: str, test: bool) -> Result:
        """Call the module's ``mod_watch``; ``fun`` is the function that the state names."""
        ...

    def reacts(self, state: str) -> bool: ...

    def guarded_by_itself(self, state: str) -> bool:
        """True if the module evaluates onlyif and unless itself (``mod_run_check``)."""
        ...

    def function(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """Call an execution function, for conditions and slots. Raises ``LookupError`` if there is none."""
        ...

    def function_and_code(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> tuple[object, int]:
        """The same, with the exit code that the function set; 0 if it set none."""
        ...

    def command(self, command: str, options: Mapping[str, object]) -> int:
        """Run a shell command for conditions and check_cmd; return its exit code."""
        ...

    def nature(self, state: str, fun: str) -> Nature:
        """How the engine must treat the function, as its module declares."""
        ...

    def takes(self, chunk: Chunk, word: str) -> bool:
        """True if the function has a parameter of this name, so the engine leaves the word to it."""
        ...

    def exists(self, path: str) -> bool: ...

    def aggregate(self, chunk: Chunk, group: Sequence[Chunk], answered: Mapping[str, Answer]) -> Chunk:
        """The chunk, extended by what the module can process of the others at the same time."""
        ...

    def aggregates(self, state: str) -> bool: ...

    def refresh(self, what: frozenset[str]) -> None:
        """Collect again: ``modules``, ``grains``, ``pillar``."""
        ...

    def arrived(self, crossing: Crossing | None) -> None:
        """The next call is of a state that requested a barrier and is called again on its other side."""
        ...


class KnownChunk(Struct, frozen=True, kw_only=True):
    """What is known of a chunk from before the run broke: its answer, or only that it was ``started``.

    With a ``crossing``, it requested a barrier; ``result`` is what it returned then. If it is
    ``suspect``, the power was lost after it changed something: the change may be lost.
    """

    answer: Answer | None = None
    result: Result | None = None
    steps: Sequence[Answer] = ()
    tried: Sequence[Answer] = ()  # the steps of earlier attempts
    started: Begun | None = None
    traces: Traces = NO_TRACES  # of a started call without an answer
    crossing: Crossing | None = None
    suspect: bool = False


Planner = Callable[[Sequence[Chunk], Sequence[str]], Plan]


class Journal(Protocol):
    """Records what a run does, before it counts as done.

    ``scope`` is the path of a frame, empty for the run itself; ``target`` is the index of an entry in
    its caller. Raises ``OperationError`` when it cannot write: then nothing more may be done.
    """

    @property
    def past(self) -> Past | None:
        """What an earlier process did in the same run; None if there was none."""
        ...

    def starting(self, scope: str, index: int, begun: Begun, plan: Plan) -> bool:
        """A chunk is about to be called; the complement of its index: it is about to react as a listener.

        True if an earlier process may have called it, and a power loss has taken the record.
        """
        ...

    def finished(self, scope: str, index: int, answer: Answer, result: Result) -> None: ...
    def barrier(self, scope: str, index: int, begun: Begun, barrier: Barrier, result: Result) -> None: ...
    def step(self, answer: Answer) -> None: ...
    def tried(self, number: int) -> None:
        """The steps of this answer so far belong to an earlier attempt."""
        ...

    def rehearsed(self, scope: str, index: int, standing: Standing) -> None: ...
    def frame(self, scope: str, target: int, frame: Frame, plan: Plan) -> None: ...
    def frame_ended(self, frame: Frame) -> None: ...
    def stand_in(self, scope: str, target: int, answer: Answer) -> None: ...
    def listened(self, scope: str, index: int, answer: Answer) -> None: ...


class Past(Protocol):
    """What an earlier process recorded of a broken run. ``caller`` is the number of an answer."""

    @property
    def number(self) -> int:
        """The next run number."""
        ...

    def known_chunk(self, scope: str, index: int, chunk: Chunk) -> KnownChunk | None: ...
    def rehearsal(self, scope: str, index: int) -> Standing | None: ...
    def frame(self, scope: str, caller: int, target: int) -> tuple[Frame, Plan] | None: ...
    def stand_in(self, scope: str, caller: int, target: int) -> Answer | None: ...
    def reaction(self, scope: str, index: int) -> KnownChunk | None:
        """What is known of a listener."""
        ...

    def reuse_programs(self, number: int) -> None:
        """Let the next call of this state use the results of its programs without running them."""
        ...


EventSink = Callable[[Event], None]
"""Gets every event, in order."""


class EarlierReturns(Struct):
    """The returns of a caller's earlier targets, as later ones see them: kept, since there may be many.

    ``suspect``: some contain slots or late references.
    """

    returns: list[dict[str, object]] = field(default_factory=list)
    suspect: bool = False


class Call(Struct, frozen=True, kw_only=True):
    """A target that is due. ``result`` is the caller's full result, whatever ``answer`` hides from the
    report; ``steps`` are its sub states, ``earlier`` the answers of the caller's earlier targets."""

    target: Target
    answer: Answer
    result: Result
    steps: Sequence[Answer]
    earlier: Sequence[Answer]
    returns: EarlierReturns


class Unrendered(Exception):
    """A target cannot be rendered or compiled; the text is for the user."""


class FrameMaker(Protocol):
    """Renders and compiles a delayed target."""

    def make(self, call: Call) -> Plan:
        """The states of the frame; they belong to the run until ``leave``. Raises ``Unrendered``."""
        ...

    def enter(self, plan: Plan) -> None:
        """The same, for a frame that was made before the run broke."""
        ...

    def leave(self) -> None:
        """Leave the last frame, which has run."""
        ...
