"""A look at the server before and after, in states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from saltern.modules.api.context import Context
from saltern.modules.lib.databases.mysql.client import NotThere

Seen = TypeVar("Seen")


class Sight(Generic[Seen]):
    """What ``look`` saw last. ``again`` looks anew, except for its first call, for then it has just looked.

    In test mode the server may be one that an earlier state would bring: then ``nothing`` is seen, and a
    warning says so.
    """

    def __init__(self, ctx: Context, look: Callable[[], Seen], nothing: Seen) -> None:
        self._look = look
        self._fresh = True
        self.last = nothing
        self.warnings: tuple[str, ...] = ()
        try:
            self.last = look()
        except NotThere as problem:
            if not ctx.test:
                raise
            self.warnings = (f"{problem}; predicted as if nothing were there yet",)

    def again(self) -> Seen:
        if not self._fresh:
            self.last = self._look()
        self._fresh = False
        return self.last
