"""What the API needs of the controller."""

from __future__ import annotations

from typing import Protocol

from saltern.fleet.store.database import Database


class Fleet(Protocol):
    """What is asked for its data."""

    @property
    def database(self) -> Database: ...

    async def resolve(self, target: str) -> list[str]: ...
