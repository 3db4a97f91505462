"""The progress of one chunk of a scope, from its start until its answer is final."""

from __future__ import annotations

from msgspec import Struct

from saltern.language.barriers import Crossing
from saltern.language.result import Result


class Begun(Struct, frozen=True):
    """When a chunk was started, and its number."""

    number: int
    started: float
    tick: float


class Progress(Struct):
    """One chunk that is being called, or was being called by an earlier process when the run broke."""

    begun: Begun | None = None  # it is being called, in this process or its own
    earlier: int | None = None  # the number it had when an earlier process called it
    crossing: Crossing | None = None  # it is called again on the other side of this barrier
    programs: tuple[float, float] | None = None  # it uses the results of programs that ran in this span
    waiting: Result | None = None  # it requested a barrier; the result to report until that is crossed

    @property
    def continues(self) -> bool:
        """True if an earlier process began the call, and it is continued."""
        return self.crossing is not None or self.programs is not None

    @property
    def repeats(self) -> bool:
        """True if it is unknown what an earlier process did in this call."""
        return self.earlier is not None and not (self.crossing is not None and self.crossing.fresh)
