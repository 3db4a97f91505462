"""Decide what to do with a state that was being called when the run broke: a pure decision, one table.

The first matching row decides. Requested reboots and updates have their
own table, in ``journal.barriers``.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec import Struct

MOST_RECOVERIES = 5  # after which a run that keeps breaking is not resumed


class Safety(Enum):
    """What it means to call a state twice."""

    IDEMPOTENT = "it looks before it acts"
    VERIFIED = "a probe decides whether it is done"
    ONCE = "its result cannot be determined"


class Traces(Struct, frozen=True):
    """The traces of the state's programs: how many were ``begun``, how many of them have ``ended``.

    ``live``: one is running now. In the ``same_boot`` no record was lost; ``whole``:
    and none is damaged. ``until`` is when the last of them ended; 0 if unknown.
    """

    begun: int = 0
    ended: int = 0
    same_boot: bool = False
    live: bool = False
    whole: bool = True
    until: float = 0.0

    @property
    def prove(self) -> bool:
        """True if a program without a trace was certainly not started."""
        return self.same_boot and self.whole


NO_TRACES = Traces()


class Doubt(Struct, frozen=True, kw_only=True):
    """A state in doubt. ``by_programs``: it acts only through kept programs; ``tries``: again if one
    fails. ``recoveries``: how often its run was resumed without progress. ``cancelled``: nothing more may
    be started."""

    safety: Safety
    by_programs: bool = False
    tries: bool = False
    cancelled: bool = False
    recoveries: int = 0
    traces: Traces = NO_TRACES

    @property
    def known(self) -> bool:
        """True if every program has ended, and no other can have been started."""
        traces = self.traces
        no_other = traces.prove or not self.tries
        return self.by_programs and no_other and 0 < traces.begun == traces.ended

    @property
    def untouched(self) -> bool:
        return self.by_programs and self.traces.prove and not self.traces.begun


class Decision(Enum):
    QUARANTINE = "leave it alone"
    ATTACH = "wait for its program, then decide again"
    TAKE = "take the result that its program had"
    CANCEL = "nothing is begun any more"
    SPAWN = "it has not begun: begin it"
    AGAIN = "call it again"
    PROBE = "ask its probe; call it again if that says no"
    INDETERMINATE = "do as its 'resume' says"


TABLE: tuple[tuple[Callable[[Doubt], bool], Decision], ...] = (
    (lambda doubt: doubt.recoveries > MOST_RECOVERIES, Decision.QUARANTINE),
    (lambda doubt: doubt.traces.live, Decision.ATTACH),
    (lambda doubt: doubt.known, Decision.TAKE),
    (lambda doubt: doubt.cancelled, Decision.CANCEL),
    (lambda doubt: doubt.untouched, Decision.SPAWN),
    (lambda doubt: doubt.safety is Safety.IDEMPOTENT, Decision.AGAIN),
    (lambda doubt: doubt.safety is Safety.VERIFIED, Decision.PROBE),
    (lambda _: True, Decision.INDETERMINATE),
)


def decide(doubt: Doubt) -> Decision:
    return next(decision for fits, decision in TABLE if fits(doubt))
