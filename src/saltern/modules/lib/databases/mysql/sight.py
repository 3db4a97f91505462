"""A look at the server before and after, in states."""

from __future__ import annotations

from collections.abc import Callable

from saltern.modules.api.context import Context
from saltern.modules.lib.databases import sight
from saltern.modules.lib.databases.mysql.client import NotThere


class Sight(sight.Sight[sight.Seen]):
    """What was seen of a MySQL server."""

    __slots__ = ()

    def __init__(self, ctx: Context, look: Callable[[], sight.Seen], nothing: sight.Seen) -> None:
        super().__init__(ctx, look, nothing, absent=NotThere)
