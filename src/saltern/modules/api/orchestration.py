"""What the states of an orchestration may ask of a fleet: a port, which the fleet implements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from saltern.language.result import SubResult

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # the real one costs as much as a module


class RemoteCall(Struct, frozen=True, kw_only=True):
    """A function on the systems of a target, which is compound.

    ``wait``: seconds for which systems that are away are waited for; ``timeout``: within which a system must
    take the job. ``subset``: only so many of the systems, chosen at random. ``states``: the answer is that of
    states. ``returners``: what each system calls with its return; ``return_options``: their settings.
    """

    function: str
    target: str
    args: Sequence[object] = ()
    kwargs: Mapping[str, object] = {}
    test: bool = False
    environment: str = "base"
    batch: str = ""
    batch_wait: float = 0.0
    batch_failures: str = ""
    subset: int = 0
    wait: float = 0.0
    timeout: float = 0.0
    states: bool = False
    returners: Sequence[str] = ()
    return_options: Mapping[str, object] = {}


class SystemReturn(Struct, frozen=True, kw_only=True):
    """What one system answered. ``value`` is Salt's return; ``steps`` are its states, if it ran some.

    ``why`` says what went wrong in place of an answer, or with it. ``is_away``: it was not there.
    ``warnings`` are about what is no part of the job: its returners.
    """

    system: str
    is_ok: bool
    value: object = None
    has_value: bool = False
    exit_code: int = 0
    why: str = ""
    is_away: bool = False
    steps: tuple[SubResult, ...] = ()
    warnings: tuple[str, ...] = ()


class RunnerReturn(Struct, frozen=True, kw_only=True):
    """What a runner answered. ``steps`` are the states of an orchestration within the orchestration."""

    value: object
    is_ok: bool = True
    jid: str = ""
    steps: tuple[SubResult, ...] = ()


class SeenEvent(Struct, frozen=True, kw_only=True):
    """An event of the fleet."""

    tag: str
    data: Mapping[str, object]


Heard = Callable[[SystemReturn], None]


class NoSystems(Exception):
    """The target means no system."""


class CallRefused(Exception):
    """The fleet does not take the call; the text says why."""


class Orchestration(Protocol):
    """The fleet that an orchestration works on. ``token`` names a call for good: one that was made before, by
    a process that is gone, is found again and not made twice."""

    @property
    def jid(self) -> str: ...

    def call(self, call: RemoteCall, token: str, heard: Heard) -> str:
        """Run it to its end; ``heard`` is given each return as it comes. The number of the job.

        Raises ``NoSystems`` and ``CallRefused``.
        """

    def runner(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object], token: str
    ) -> RunnerReturn: ...

    def wheel(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> RunnerReturn: ...

    def events(self, tag: str) -> Iterator[SeenEvent | None]:
        """Events whose tag fits the glob, from the last job of the orchestration on; None now and then, so
        that the reader can look at the time."""
