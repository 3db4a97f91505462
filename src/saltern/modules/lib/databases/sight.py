"""What a state of a database reads from the server, before and after it acts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused

Seen = TypeVar("Seen")


class Sight(Generic[Seen]):
    """The last result of ``look``. ``again`` calls it again, except the first time, when it has just been
    called.

    ``absent`` is what ``look`` raises if there is no server. In test mode an earlier state may install the
    server: then the result is ``nothing``, with a warning. With one of ``fine``, the result is ``nothing`` in
    any mode, without a warning.
    """

    __slots__ = ("_fresh", "_look", "last", "warnings")

    def __init__(
        self,
        ctx: Context,
        look: Callable[[], Seen],
        nothing: Seen,
        *,
        absent: type[Refused],
        fine: tuple[type[Refused], ...] = (),
    ) -> None:
        self._look = look
        self._fresh = True
        self.last = nothing
        self.warnings: tuple[str, ...] = ()
        try:
            self.last = look()
        except fine:
            pass
        except absent as problem:
            if not ctx.test:
                raise
            self.warnings = (f"{problem}; predicted as if nothing existed yet",)

    def again(self) -> Seen:
        if not self._fresh:
            self.last = self._look()
        self._fresh = False
        return self.last
