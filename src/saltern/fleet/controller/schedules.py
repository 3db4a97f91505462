"""Fires schedules: when the time of a row has come, a run of its chain is started once.

There is no timer: the time is in the row. If a controller ends between starting the run and updating the
row, the next one finds the same run by its token.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from msgspec import ValidationError, convert, json

from saltern.chains.statuses import ENDS
from saltern.fleet.calendars.schedule import Due, due
from saltern.fleet.chains.rollout import Rollout
from saltern.fleet.controller.chains.desk import ChainDesk, NewRun
from saltern.fleet.controller.chains.vault import Vault
from saltern.fleet.controller.singleton import Hold
from saltern.fleet.controller.windows import timing_of
from saltern.fleet.store import calendars
from saltern.fleet.store.calendars import StoredSchedule
from saltern.fleet.store.chain_runs import run_row
from saltern.fleet.store.database import Connection
from saltern.language.diagnostics import SalternError
from saltern.system.clock import stamp

log = logging.getLogger(__name__)
_ENDS = frozenset(one.value for one in ENDS)


class Schedules:
    """The work of one round: start due runs, and store the next times."""

    def __init__(self, desk: Callable[[], ChainDesk], vault: Vault, *, now: Callable[[], float]) -> None:
        self._desk = desk
        self._vault = vault
        self._now = now

    async def __call__(self, hold: Hold) -> None:
        now = self._now()
        if not await hold.look(calendars.due_schedules, now):
            return
        for schedule, busy in await hold.write(_due, now):
            assert schedule.next_at is not None
            decided = due(timing_of(schedule), schedule.next_at, now, busy=busy)
            if decided.fires or decided.left_out:
                await self._fire(hold, schedule, decided, now)

    async def _fire(self, hold: Hold, schedule: StoredSchedule, decided: Due, now: float) -> None:
        """Start its runs, then store the result. A run that cannot start is reported with the schedule."""
        last_run, why = schedule.last_run, _left_out(decided)
        for at in decided.fires:
            try:
                last_run = await self._start(schedule, at)
            except (SalternError, ValidationError) as problem:
                why = f"no run at {stamp(at)} UTC: {problem}"
                log.warning("schedule %s: %s", schedule.name, why)
        changes: dict[str, object] = {
            "next_at": decided.next_at,
            "last_at": now,
            "last_run": last_run,
            "last_why": why,
        }
        await hold.write(calendars.mark_fired, schedule, changes)

    async def _start(self, schedule: StoredSchedule, at: float) -> str:
        async def permit(_systems: tuple[str, ...]) -> str:
            return f"schedule {schedule.name}"  # permission was checked when the schedule was set

        ask = NewRun(
            target=schedule.target,
            chain=schedule.chain,
            version=schedule.version,
            inputs=self._vault.open_values(json.decode(schedule.inputs)),
            rollout=convert(json.decode(schedule.strategy), Rollout),
            client_token=f"schedule {schedule.name} {at:.0f}",
        )
        return (await self._desk().start(schedule.author, ask, permit=permit)).run


def _due(connection: Connection, now: float) -> list[tuple[StoredSchedule, bool]]:
    """Schedules whose time has come, and whether the last run of each is not over."""
    return [(one, _is_busy(connection, one)) for one in calendars.due_schedules(connection, now)]


def _is_busy(connection: Connection, schedule: StoredSchedule) -> bool:
    row = run_row(connection, schedule.last_run) if schedule.last_run else None
    return row is not None and row["status"] not in _ENDS


def _left_out(decided: Due) -> str:
    if not decided.left_out:
        return ""
    times = ", ".join(f"{stamp(one)} UTC" for one in decided.left_out[-3:])
    return f"left out {times}: {decided.why}"
