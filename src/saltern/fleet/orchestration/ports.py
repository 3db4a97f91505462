"""The interface to the fleet that the orchestrate command needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from saltern.modules.api.orchestration import Heard, RemoteCall, RunnerReturn, SeenEvent


class Fleet(Protocol):
    """``modules.api.orchestration.Orchestration`` that is also recorded as a job of the fleet."""

    jid: str

    def call(self, call: RemoteCall, token: str, heard: Heard) -> str: ...

    def runner(
        self, name: str, args: Sequence[object], kwargs: Mapping[str, object], token: str
    ) -> RunnerReturn: ...

    def wheel(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> RunnerReturn: ...

    def events(self, tag: str) -> Iterator[SeenEvent | None]: ...

    def begin(
        self, sls: Sequence[str], system: str, *, test: bool, environment: str, parent: str | None
    ) -> bool:
        """Record it as a job; false if it was already cancelled."""

    def end(self, status: str, **fields: Any) -> None:
        """Report how it ended."""

    def is_cancelled(self) -> bool: ...
