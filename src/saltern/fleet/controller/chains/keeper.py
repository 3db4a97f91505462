"""Drives runs of chains, on the one controller that holds the lease.

Each round processes what came since the last one: returns of orders, progress, which systems are connected,
and the time. Everything that is needed is in the database, so that another controller continues from the same
point; only the newest progress of a leg is in memory, and it comes again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct, field

from saltern.chains.statuses import Run
from saltern.fleet.chains.events import Away, Back, Begin, Event, Gone, Tick, Windows
from saltern.fleet.chains.model import RunState
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.chains.decisions import Decided, Decisions
from saltern.fleet.controller.chains.gates import expire
from saltern.fleet.controller.chains.health import ended_checks
from saltern.fleet.controller.chains.outputs import store_outputs
from saltern.fleet.controller.chains.publisher import Publisher
from saltern.fleet.controller.chains.reports import read_report, unpack, without_report
from saltern.fleet.controller.chains.shut import WindowWatch
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.presence import PresenceBoard
from saltern.fleet.controller.singleton import Hold, LeaseLost
from saltern.fleet.store import job_queries
from saltern.fleet.store.chain_gates import expired_gates
from saltern.fleet.store.chain_outbox import (
    Returned,
    has_work,
    job_orders,
    late_orders,
    returned_orders,
    set_answers,
)
from saltern.fleet.store.chain_runs import due_runs, gone_legs, open_systems
from saltern.fleet.store.database import Connection
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)

MOST_LIVE = 50_000  # legs whose newest progress is kept for the next round


class News(Struct):
    """What came about one run since the last round."""

    returned: list[Returned] = field(default_factory=list)
    live: dict[str, Any] = field(default_factory=dict)
    away: list[str] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    gates: list[str] = field(default_factory=list)
    checks: list[Event] = field(default_factory=list)
    gone: dict[str, str] = field(default_factory=dict)  # leg → why its system is not in the fleet
    windows: Windows | None = None


class ChainKeeper:
    """The work of one round."""

    def __init__(
        self,
        calls: Calls,
        publisher: Publisher,
        board: PresenceBoard,
        hub: Hub,
        *,
        now: Callable[[], float],
        windows: WindowWatch | None = None,
    ) -> None:
        self._windows = windows
        self._calls = calls
        self._publisher = publisher
        self._board = board
        self._hub = hub
        self._now = now
        self._decisions = Decisions()
        self._live: dict[tuple[str, str], Any] = {}

    def on_progress(self, jid: str, system: str, leg: Any) -> None:
        """Record a system's progress on the leg that this job drives; the newest counts."""
        if len(self._live) < MOST_LIVE:
            self._live[jid, system] = leg

    async def __call__(self, hold: Hold) -> bool:
        """False if there is no open run."""
        live, self._live = self._live, {}
        try:
            is_open = await self._keep_runs(hold, live)
        except BaseException:
            self._live = live | self._live  # the next round takes it in, and a report twice changes nothing
            raise
        if is_open:
            await self._publisher.publish(hold)
        return is_open

    async def _keep_runs(self, hold: Hold, live: dict[tuple[str, str], Any]) -> bool:
        """Decide about all runs with news; False if there is no open run."""
        if not live and not await hold.look(has_work):
            return False
        now = self._now()
        news = await self._calls.read(self._gather, live, now)
        for run, one in (news or {}).items():
            await self._keep_run(hold, run, one, now)
        return news is not None

    async def _keep_run(self, hold: Hold, run: str, news: News, now: float) -> None:
        """Decide about one run. A defect in one of them must not stop the others."""
        try:
            decided = await hold.write(self._decide, run, news, now)
        except (LeaseLost, OperationError, TimeoutError):
            raise
        except Exception:
            log.exception("run %s of a chain cannot be decided about", run)
            return
        self._decisions.keep(decided)
        if decided.commands:
            self._hub.wake()

    # -- in threads of the database ------------------------------------------------------------------

    def _gather(
        self, connection: Connection, live: dict[tuple[str, str], Any], now: float
    ) -> dict[str, News] | None:
        """The news by run; None if there is no open run."""
        news: dict[str, News] = {}
        if not live and not has_work(connection):
            return None
        for one in (*returned_orders(connection), *late_orders(connection)):
            news.setdefault(one.run, News()).returned.append(one)
        if live:
            for key, (run, leg) in job_orders(connection, list(live)).items():
                news.setdefault(run, News()).live[leg] = live[key]
        if self._board.is_known:
            self._gather_presence(connection, news)
        for run, gate in expired_gates(connection, now):
            news.setdefault(run, News()).gates.append(gate)
        for run, checks in ended_checks(connection, now).items():
            news.setdefault(run, News()).checks += checks
        for run, leg, state in gone_legs(connection):
            why = f"the key of its system is {state}" if state else "its system was removed from the fleet"
            news.setdefault(run, News()).gone[leg] = why
        for run in due_runs(connection, now):
            news.setdefault(run, News())
        for run, windows in (self._windows.changes(connection, now) if self._windows else {}).items():
            news.setdefault(run, News()).windows = windows
        return news

    def _missing_systems(self, state: RunState) -> tuple[str, ...]:
        """The disconnected systems of a run that has not begun and depends on them."""
        if state.strategy.reachable is None or state.status is not Run.SCHEDULED or not self._board.is_known:
            return ()
        return tuple(one.system for one in state.legs.values() if not self._board.is_online(one.system))

    def _gather_presence(self, connection: Connection, news: dict[str, News]) -> None:
        for run, legs in open_systems(connection).items():
            for leg, system, away in legs:
                if away is self._board.is_online(system):
                    found = news.setdefault(run, News())
                    (found.back if away else found.away).append(leg)

    def _decide(self, connection: Connection, run: str, news: News, now: float) -> Decided:
        def events(state: RunState) -> Iterator[Event]:
            if news.windows is not None:
                yield news.windows
            yield Begin(now=now, missing=self._missing_systems(state))
            for one in news.returned:
                yield from _return_events(connection, state, one, now)
            for name, body in news.live.items():
                if name in state.legs:
                    yield read_report(state.legs[name], body, now)
            yield from (expire(connection, run, gate, now) for gate in news.gates)
            yield from news.checks
            if news.gone:
                yield Gone(now=now, why=news.gone)
            yield from (Away(now=now, leg=leg) for leg in news.away)
            yield from (Back(now=now, leg=leg) for leg in news.back)
            yield Tick(now=now)

        decided = self._decisions.decide(connection, run, events)
        _store_outputs(connection, decided.after, news)
        set_answers(connection, {one.number: one.status for one in news.returned}, now)
        return decided


def _store_outputs(connection: Connection, state: RunState, news: News) -> None:
    """Store the output of actions: first of running ones, then of ended ones, which is complete."""
    for name, body in news.live.items():
        if name in state.legs:
            store_outputs(connection, state.legs[name], body, final=False)
    for one in news.returned:
        packed = job_queries.body(connection, one.jid, one.system) if one.leg in state.legs else None
        if packed is not None:
            store_outputs(connection, state.legs[one.leg], unpack(*packed), final=True)


def _return_events(connection: Connection, state: RunState, one: Returned, now: float) -> Iterator[Event]:
    """The report in the return of an order, or the event for a return without one."""
    leg = state.legs.get(one.leg)
    if leg is None:
        return
    packed = job_queries.body(connection, one.jid, one.system)
    body = unpack(*packed) if packed is not None else None
    if isinstance(body, dict) and "steps" in body:
        yield read_report(leg, body, now)
    elif (event := without_report(leg, one, now)) is not None and one.order == leg.order:
        yield event
