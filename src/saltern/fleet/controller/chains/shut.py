"""Which systems of open runs have no open window now, and why; and how long the windows of the others are
open. Called in every round of the keeper.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from msgspec import Struct

from saltern.fleet.calendars.windows import Calendar, may_begin
from saltern.fleet.chains.events import Windows
from saltern.fleet.controller.windows import Match, calendars_for, compile_calendar
from saltern.fleet.store.calendars import StoredCalendar, list_calendars
from saltern.fleet.store.chain_runs import open_deadlines, unfinished_systems
from saltern.fleet.store.database import Connection
from saltern.system.clock import stamp

Known = tuple[str, float]  # why there is no open window, and when the open one ends; 0: never
OPEN: Known = ("", 0.0)


class Verdict(Struct, frozen=True):
    """The current verdict of the calendars. ``next``: when a window opens; 0: unknown, or never."""

    why: str = ""
    until: float = 0.0
    next: float = 0.0

    def of(self, deadline: float) -> Known:
        """The verdict for a run with a deadline: a window after that does not count."""
        late = f"; the run ends before that, at {stamp(deadline)} UTC" if self.next >= deadline else ""
        return f"{self.why}{late}", self.until


class WindowWatch:
    """Finds the runs for which windows have opened or closed. Compiled calendars are cached."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self._compiled: dict[StoredCalendar, Calendar] = {}
        self._is_needed = True  # whether a leg had a window at the last check; None: never checked

    def changes(self, connection: Connection, now: float) -> dict[str, Windows]:
        """The windows of each run where they differ from the stored ones."""
        stored = list_calendars(connection)
        if not stored and not self._is_needed:
            return {}
        runs = unfinished_systems(connection)
        systems = sorted({system for legs in runs.values() for _, system, _ in legs})
        verdicts = self._verdicts(stored, systems, now)
        known = [one for legs in runs.values() for _, _, one in legs]
        self._is_needed = any(one != OPEN for one in known) or any(
            one != Verdict() for one in verdicts.values()
        )
        deadlines = open_deadlines(connection) if self._is_needed else {}
        found: dict[str, Windows] = {}
        for run, legs in runs.items() if self._is_needed else ():
            own = {leg: verdicts[system].of(deadlines.get(run, inf)) for leg, system, _ in legs}
            if any(own[leg] != before for leg, _, before in legs):
                found[run] = _windows(now, own)
        return found

    def _verdicts(
        self, stored: Sequence[StoredCalendar], systems: list[str], now: float
    ) -> dict[str, Verdict]:
        """The current verdict of its calendars for each system."""
        self._compiled = {one: self._compiled.get(one) or compile_calendar(one) for one in stored}
        of_system = calendars_for(stored, systems, self._match, self._compiled.__getitem__)
        known: dict[tuple[str, ...], Verdict] = {}
        found: dict[str, Verdict] = {}
        for system, own in of_system.items():
            names = tuple(one.name for one in own)
            if names not in known:
                known[names] = _verdict(own, now)
            found[system] = known[names]
        return found


def _windows(now: float, verdicts: dict[str, Known]) -> Windows:
    shut = {leg: why for leg, (why, _) in verdicts.items() if why}
    return Windows(now=now, shut=shut, until={leg: until for leg, (_, until) in verdicts.items() if until})


def _verdict(own: Sequence[Calendar], now: float) -> Verdict:
    verdict = may_begin(own, now)
    if verdict.open:
        return Verdict(until=verdict.until or 0.0)
    following = f"; next {stamp(verdict.next)} UTC" if verdict.next else "; there is no later window"
    return Verdict(why=f"{verdict.why}{following}", next=verdict.next or 0.0)
