"""What a runner may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from saltern.fleet.client.client import Client
from saltern.language.diagnostics import Diagnostic, OperationError


class Local(Protocol):
    """The process that a runner works in: its own functions, its files, and orchestrations."""

    def function(self, name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """Call an execution function of this machine."""

    def pillar(self) -> Mapping[str, object]:
        """The pillar of the controller."""

    def runner(self, name: str) -> Callable[..., object] | None:
        """A user-defined runner, from ``_runners`` of the tree."""

    def orchestrate(self, options: Mapping[str, object], token: str) -> dict[str, Any]:
        """Run an orchestration to its end, or begin it; Salt's answer."""


class Around(Struct, frozen=True, kw_only=True):
    """What all runners are given: the controller, the job that they belong to, and the process.

    ``token`` identifies what the runner sends, so that it is not sent twice.
    """

    ask: Client
    jid: str = ""
    token: str = ""
    local: Local | None = None


def runner_problem(what: str, fix: str = "") -> OperationError:
    return OperationError(Diagnostic(code="runner-failed", what=what, fix=fix))


def local_of(around: Around, name: str) -> Local:
    if around.local is None:
        raise runner_problem(f"{name} cannot be run here", "use it in an orchestration file")
    return around.local
