"""What the API needs of others: who asks, what they may do, and the fleet itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from saltern.fleet.store.database import Database


class Peer(Struct, frozen=True):
    """The process at the other end of a UNIX socket, as the kernel names it."""

    pid: int
    uid: int
    gid: int


class Principal(Struct, frozen=True, kw_only=True):
    """Who asks."""

    name: str
    roles: tuple[str, ...] = ()
    via: str = ""


class Decision(Struct, frozen=True, kw_only=True):
    """Whether it is allowed, by which rule, or why not."""

    allowed: bool
    rule: str = ""
    why: str = ""


class Access(Protocol):
    """Knows who asks and what they may do."""

    async def authenticate(self, headers: Mapping[str, str], peer: Peer | None) -> Principal | None: ...

    async def decide(
        self,
        who: Principal,
        action: str,
        *,
        function: str = "",
        systems: Sequence[str] = (),
        test: bool = False,
    ) -> Decision: ...


class Fleet(Protocol):
    """What is asked for its data."""

    @property
    def database(self) -> Database: ...

    async def resolve(self, target: str) -> list[str]: ...
