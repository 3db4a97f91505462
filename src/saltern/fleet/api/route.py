"""What a route is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from saltern.fleet.api.call import Call

Handler = Callable[[Call[Any, Any]], Awaitable[Any]]


class NoQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The route takes no parameters."""


class Route(Struct, frozen=True, kw_only=True):
    """One row. ``action`` is what the policy decides on, a row of ``ACTIONS``; None: for everyone.

    ``answer`` None: there is no JSON. ``streams``: server-sent events, if the client accepts them.
    """

    method: str
    path: str
    about: str
    action: str | None
    handler: Handler
    answer: Any
    query: type[Struct] = NoQuery
    body: type[Struct] | None = None
    status: int = 200
    streams: bool = False

    @property
    def name(self) -> str:
        """The name of the operation: that of its handler."""
        return self.handler.__name__
