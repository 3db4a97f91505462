"""How far one chunk of a scope has come, from when it is taken up until its answer is final."""

from __future__ import annotations

from msgspec import Struct

from saltern.language.barriers import Crossing
from saltern.language.result import Result


class Begun(Struct, frozen=True):
    """When a chunk was taken up, and the number it got."""

    number: int
    started: float
    tick: float


class Progress(Struct):
    """One chunk that is being called, or that an earlier process had called when the run broke."""

    begun: Begun | None = None  # it is being called, in this process or in one of its own
    earlier: int | None = None  # the number it had when an earlier process called it
    crossing: Crossing | None = None  # it is called again on the other side of this barrier
    programs: tuple[float, float] | None = None  # it takes the results of programs that ran in this span
    waiting: Result | None = None  # it has asked for a barrier; what is reported until that is crossed

    @property
    def continues(self) -> bool:
        """True if an earlier process began the call and it is not begun anew."""
        return self.crossing is not None or self.programs is not None

    @property
    def repeats(self) -> bool:
        """True if what an earlier process did in this call is unknown."""
        return self.earlier is not None and not (self.crossing is not None and self.crossing.fresh)
