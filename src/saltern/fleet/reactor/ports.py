"""The interface of a reactor for the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from saltern.fleet.reactor.forms import Reaction, Wrong
from saltern.fleet.reactor.rules import Rule


class Foreseen(Struct, frozen=True, kw_only=True):
    """The reactions that an event would cause: the files that its tag matches, the reactions with the systems
    that each matches now, and the mistakes.
    """

    sources: list[str] = []
    reactions: list[Reaction] = []
    systems: list[list[str]] = []
    refusals: list[str] = []
    wrong: list[Wrong] = []


class Reacts(Protocol):
    """The reactor, as the API uses it."""

    async def rows(self) -> Sequence[Rule]: ...

    async def add(self, who: str, pattern: str, sources: object) -> Rule: ...

    async def remove(self, who: str, pattern: str) -> None: ...

    async def foresee(self, tag: str, data: Mapping[str, Any]) -> Foreseen: ...
