"""What the API needs of the controller."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from saltern.fleet.protocol.notices import Notice
from saltern.fleet.store.database import Database


class Fleet(Protocol):
    """What is asked for its data."""

    @property
    def database(self) -> Database: ...

    async def resolve(self, target: str) -> list[str]: ...

    def follow(self, jid: str | None, *, after: int | None = None) -> AsyncIterator[Notice]: ...
