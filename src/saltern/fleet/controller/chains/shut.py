"""Which systems of open runs have no open window now, and why: asked in every round of the keeper."""

from __future__ import annotations

from collections.abc import Sequence

from saltern.fleet.calendars.windows import Calendar, may_begin
from saltern.fleet.controller.windows import Match, calendars_for, compiled
from saltern.fleet.store.calendars import StoredCalendar, list_calendars
from saltern.fleet.store.chain_runs import unfinished_systems
from saltern.fleet.store.database import Connection
from saltern.system.clock import stamp

Shut = dict[str, dict[str, str]]  # a run → its legs, and why each may not be worked on


class WindowWatch:
    """Finds the runs for which windows have opened or closed. What was compiled is kept."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self._compiled: dict[StoredCalendar, Calendar] = {}
        self._is_needed = True  # a leg was without a window when it was looked last, or it was never looked

    def changes(self, connection: Connection, now: float) -> Shut:
        """All legs without an open window, of each run in which that differs from what is written."""
        stored = list_calendars(connection)
        if not stored and not self._is_needed:
            return {}
        runs = unfinished_systems(connection)
        systems = sorted({system for legs in runs.values() for _, system, _ in legs})
        verdicts = self._verdicts(stored, systems, now)
        self._is_needed = any(verdicts.values()) or any(one for legs in runs.values() for _, _, one in legs)
        found = {
            run: {leg: why for leg, system, _ in legs if (why := verdicts[system])}
            for run, legs in runs.items()
        }
        return {
            run: found[run]
            for run, legs in runs.items()
            if any(found[run].get(leg, "") != shut for leg, _, shut in legs)
        }

    def _verdicts(self, stored: Sequence[StoredCalendar], systems: list[str], now: float) -> dict[str, str]:
        """Of each system: why it has no open window; empty if it has one."""
        self._compiled = {one: self._compiled.get(one) or compiled(one) for one in stored}
        of_system = calendars_for(stored, systems, self._match, self._compiled.__getitem__)
        known: dict[tuple[str, ...], str] = {}
        found: dict[str, str] = {}
        for system, own in of_system.items():
            names = tuple(one.name for one in own)
            if names not in known:
                known[names] = _why(own, now)
            found[system] = known[names]
        return found


def _why(own: Sequence[Calendar], now: float) -> str:
    verdict = may_begin(own, now)
    if verdict.open:
        return ""
    following = f"; next {stamp(verdict.next)} UTC" if verdict.next else "; no window comes"
    return f"{verdict.why}{following}"
