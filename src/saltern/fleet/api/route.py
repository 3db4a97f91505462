"""The type of a route."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from msgspec import Struct

from saltern.fleet.api.call import Call

Handler = Callable[[Call[Any, Any]], Awaitable[Any]]


class NoQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The route takes no parameters."""


class Route(Struct, frozen=True, kw_only=True):
    """One row. ``action`` is what the policy decides on, a row of ``ACTIONS``; None: for everyone.

    ``answer`` None: the answer is not JSON. ``streams``: server-sent events, if the client accepts them.
    ``knows_tokens``: the handler itself recognises a repeated request by its client token.
    """

    method: str
    path: str
    action: str | None
    handler: Handler
    answer: Any
    query: type[Struct] = NoQuery
    body: type[Struct] | None = None
    status: int = 200
    streams: bool = False
    knows_tokens: bool = False

    @property
    def name(self) -> str:
        """The name of the operation: that of its handler."""
        return self.handler.__name__

    @property
    def about(self) -> str:
        """What it does: the docstring of its handler."""
        return " ".join((self.handler.__doc__ or "").split())


class Maker(Protocol):
    """Makes a row of one method."""

    def __call__(
        self, path: str, action: str | None, handler: Handler, answer: Any, **more: Any
    ) -> Route: ...


def _maker(method: str) -> Maker:
    def make(path: str, action: str | None, handler: Handler, answer: Any, **more: Any) -> Route:
        return Route(method=method, path=path, action=action, handler=handler, answer=answer, **more)

    return make


get, post, put, patch, delete = map(_maker, ("GET", "POST", "PUT", "PATCH", "DELETE"))
