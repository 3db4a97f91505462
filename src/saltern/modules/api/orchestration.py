"""The interface of a fleet for the states of an orchestration, which the fleet implements."""

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
    """A call of a function on the systems of a compound target.

    ``wait``: seconds to wait for systems that are offline; ``timeout``: seconds within which a system must
    accept the job. ``subset``: only this many of the systems, chosen at random. ``states``: the return is
    that of states. ``returners``: the returners that each system calls; ``return_options``: their settings.
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
    """The return of one system. ``value`` is Salt's return; ``steps`` are its states, if it ran some.

    ``why`` is the error, in place of a return or with it. ``is_away``: the system was offline.
    ``warnings`` are about its returners, which are not part of the job.
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
    """The return of a runner. ``steps`` are the states of a nested orchestration."""

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
    """The target matches no system."""


class CallRefused(Exception):
    """The fleet refuses the call; the text says why."""


class Orchestration(Protocol):
    """The fleet of an orchestration. ``token`` is the permanent name of a call: a call that was made before,
    by a process that has ended, is found again and not repeated."""

    @property
    def jid(self) -> str: ...

    def call(self, call: RemoteCall, token: str, heard: Heard) -> str:
        """Run a call to its end; ``heard`` gets each return as it comes. Returns the job ID.

        Raises ``NoSystems`` and ``CallRefused``.
        """

    def runner(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object], token: str
    ) -> RunnerReturn: ...

    def wheel(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> RunnerReturn: ...

    def events(self, tag: str) -> Iterator[SeenEvent | None]:
        """Events whose tag matches the glob, since the last job of the orchestration; None from time to time,
        so that the reader can check the time."""
