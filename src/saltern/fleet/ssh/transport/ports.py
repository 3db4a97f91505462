"""``Transport``: opens a channel to a program on a host. Everything else goes over that channel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from msgspec import Struct

from saltern.fleet.ssh.roster.host import Host

MOST_ERRORS = 64 * 1024  # bytes of standard error that are kept


class Ended(Struct, frozen=True):
    """How a program on a host ended. ``code`` is None if the connection was cut before it did."""

    code: int | None
    errors: str = ""


class Channel(Protocol):
    """A program on a host: its input, its output, its errors."""

    async def read(self, most: int) -> bytes:
        """Some of its output; empty at the end."""
        ...

    async def write(self, data: bytes | memoryview) -> None:
        """Give it input, and return when there is room for more."""
        ...

    async def end_input(self) -> None: ...

    async def wait(self) -> Ended:
        """Wait for the end of the program; return how it ended."""
        ...

    async def kill(self) -> None:
        """End the channel at once."""
        ...

    def errors(self) -> str:
        """Its standard error so far."""
        ...

    async def until_errors(self, text: str) -> None:
        """Return when standard error has this text, or has ended."""
        ...


Secrets = Callable[[Host, str], Awaitable[str]]


class Transport(Protocol):
    """One way to reach hosts."""

    async def open(self, host: Host, command: str, /) -> Channel:
        """Start a command there, by the shell of the user. Raises ``Unreached``."""
        ...

    async def close(self) -> None:
        """End what is kept open between channels."""
        ...
