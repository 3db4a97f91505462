"""Runs jobs on systems without an agent, on one controller at a time, by a lease.

Each round reads the roster, starts open jobs of the database, and checks hosts that were not seen for a long
time. Longer work is done in background tasks.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from saltern.fleet.bus.ports import Bus
from saltern.fleet.bus.tasks import end
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.singleton import Hold, LeaseLost
from saltern.fleet.controller.ssh.access import HostAccess
from saltern.fleet.controller.ssh.board import SshBoard
from saltern.fleet.controller.ssh.driver import Driver, HostAnswers, NotStored, Tools
from saltern.fleet.controller.ssh.files import PublishedTree, published_tree
from saltern.fleet.controller.ssh.records import (
    write_facts,
    write_reached,
    write_roster,
    write_unreached,
)
from saltern.fleet.controller.ssh.roster import RosterKeeper
from saltern.fleet.files.fetch import Fetcher
from saltern.fleet.ssh.deploy import Deployment, deploy
from saltern.fleet.ssh.drive import Done, Reach
from saltern.fleet.ssh.known_grains import ask_host
from saltern.fleet.ssh.pillar import HostPillar, PillarSources, as_it_is
from saltern.fleet.ssh.problems import Unreached
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.store.ssh_systems import OpenWork, has_open_work, late_work, open_work, ssh_systems
from saltern.language.diagnostics import OperationError

log = logging.getLogger(__name__)

FACTS = 3600.0  # seconds after which a host is asked for its grains again
LATE = 7 * 86_400.0  # seconds for which a host that is back is asked for jobs that were given up
AGAIN = 5.0  # seconds after which the systems are compared with the roster, even if it has not changed
TREES = 8  # trees whose manifests are kept in memory


class NewToken(Protocol):
    """Makes a join token that systems of the roster may use to become agent systems."""

    async def __call__(self, who: str, *, takes: tuple[str, ...]) -> str: ...


class DeskOptions(Struct, frozen=True, kw_only=True):
    """What jobs on hosts need. ``make_reach`` is called once, in the loop that uses it."""

    make_reach: Callable[[], Reach]
    new_token: NewToken | None = None
    pillar: PillarSources | None = None
    local: Callable[[PillarSources], PillarSources] = as_it_is
    roots: dict[str, list[str]] = {}
    render: HostAnswers | None = None
    fleet: Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]] | None = None
    open_arguments: Callable[[str, Mapping[str, Any]], dict[str, Any]] = lambda _system, given: dict(given)


class SshDesk:
    """The work of the lease ``ssh``."""

    def __init__(
        self,
        calls: Calls,
        hub: Hub,
        bus: Bus,
        board: SshBoard,
        roster: RosterKeeper,
        options: DeskOptions,
        *,
        now: Callable[[], float],
    ) -> None:
        self._calls = calls
        self._hub = hub
        self._board = board
        self._roster = roster
        self._options = options
        self._now = now
        self._bus = bus
        self._fetcher = Fetcher(bus)
        self._tools: Tools | None = None
        self._access: defaultdict[str, HostAccess] = defaultdict(HostAccess)
        self._drivers: dict[tuple[str, str], Driver] = {}
        self._tasks: dict[object, asyncio.Task[None]] = {}
        self._asked: dict[str, float] = {}
        self._written: list[str] = []
        self._written_at = float("-inf")
        self._trees: dict[str, PublishedTree] = {}
        board.cancel = self._cancel

    async def __call__(self, hold: Hold) -> None:
        if hold.fresh:
            await self._end_all()
        await self._roster.refresh()
        if not self._roster.is_read:
            return
        await self._write_roster(hold)
        work = await hold.read(open_work) if await hold.look(has_open_work) else []
        unfinished = {(one.job.jid, one.system) for one in work}
        self._drop(unfinished)
        for one in work:
            if (one.job.after, one.system) not in unfinished:
                self._begin(hold, one)
        for host in self._roster.known.hosts.values():
            self._look(hold, host)

    async def _write_roster(self, hold: Hold) -> None:
        """Update the systems in the database from the roster."""
        ids, now = sorted(self._roster.known.hosts), self._now()
        if (ids, hold.fresh) == (self._written, False) and now - self._written_at < AGAIN:
            return
        change = await hold.write(write_roster, ids, now)
        self._written, self._written_at = ids, now
        for name, some in (("new", change.added), ("gone", change.removed)):
            if some:
                log.info("the roster: %s: %s", name, ", ".join(some))
        for id_ in change.added:
            self._asked.pop(id_, None)
        if change.added or change.removed:
            self._hub.wake()
        self._board.systems = await hold.read(ssh_systems)

    # -- jobs ---------------------------------------------------------------------------------------------

    def _begin(self, hold: Hold, one: OpenWork) -> None:
        host = self._roster.known.hosts.get(one.system)
        key = (one.job.jid, one.system)
        known = self._drivers.get(key)
        if known is not None and one.cancelled and not known.is_cancelled:
            self._spawn(object(), known.cancel(hard=False))  # cancelled on another controller
        if host is None or known is not None:
            return
        driver = Driver(self._ready(), hold, one, host, self._access[host.id])
        self._drivers[key] = driver
        self._board.running.setdefault(host.id, []).append(one.job.jid)
        self._spawn(key, driver.run())

    def _drop(self, still: Collection[tuple[str, str]]) -> None:
        """Drop jobs that were ended before they began anywhere."""
        for key, driver in list(self._drivers.items()):
            if key not in still and not driver.is_begun:
                self._tasks[key].cancel()

    def _ready(self) -> Tools:
        if self._tools is None:
            sources = self._options.pillar
            self._tools = Tools(
                reach=self._options.make_reach(),
                pillar=HostPillar(sources, self._options.local) if sources is not None else None,
                render=self._options.render,
                fleet=self._options.fleet,
                deploy=self._deploy,
                files=self._files,
                open_arguments=self._options.open_arguments,
                bus=self._bus,
                hub=self._hub,
                now=self._now,
            )
        return self._tools

    async def _deploy(self, one: OpenWork, host: Host) -> Done:
        """Turn a host into an agent system, with a token for it alone."""
        assert self._options.new_token is not None
        try:
            how = msgspec.convert(one.job.kwargs, Deployment)
            token = await self._options.new_token(one.job.user, takes=(host.id,))
        except (msgspec.ValidationError, OperationError) as problem:
            return Done(status="failed", why=str(problem), code=1)
        return await deploy(host, self._ready().reach, how, token)

    async def _files(self, digest: str) -> PublishedTree:
        if digest not in self._trees:
            tree = await published_tree(self._calls, self._fetcher, digest, self._options.roots)
            while len(self._trees) >= TREES:
                del self._trees[next(iter(self._trees))]
            self._trees[digest] = tree
        return self._trees[digest]

    def _cancel(self, jid: str, systems: Collection[str], hard: bool) -> set[str]:
        """End the jobs that this controller drives; return their systems."""
        found = [one for one in (self._drivers.get((jid, system)) for system in systems) if one is not None]
        for one in found:
            self._spawn(object(), one.cancel(hard=hard))
        return {one.key[1] for one in found}

    # -- hosts that were not seen for long ------------------------------------------------------------------

    def _look(self, hold: Hold, host: Host) -> None:
        """Ask a host for its grains, if that is due and no job runs there."""
        key = ("look", host.id)
        access = self._access[host.id]
        fresh = self._now() - self._asked.get(host.id, float("-inf")) < FACTS
        if key in self._tasks or not access.is_due or (fresh and not access.failures):
            return
        if not self._board.running.get(host.id):
            self._spawn(key, self._ask(hold, host, access))

    async def _ask(self, hold: Hold, host: Host, access: HostAccess) -> None:
        reach = self._ready().reach
        was_away = access.failures > 0 or host.id not in self._asked
        try:
            async with access.trial(), reach.limits.room(host):
                known = await ask_host(host, reach)
                access.reached()
        except (Unreached, OperationError) as problem:
            access.failed()
            why = str(problem.diagnostic() if isinstance(problem, Unreached) else problem)
            await hold.write(write_unreached, host.id, why, self._now())
            return self._hub.wake()
        self._asked[host.id] = self._now()
        grains = {**known.grains, **host.grains, "id": host.id}
        await hold.write(write_reached, host.id, self._now())
        await hold.write(write_facts, host.id, grains, self._now())
        self._hub.wake()
        if was_away:
            for one in await self._calls.read(late_work, host.id, self._now() - LATE):
                self._begin(hold, one)
        return None

    # -- tasks --------------------------------------------------------------------------------------------

    def _spawn(self, key: object, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._ended(key, done))

    def _ended(self, key: object, task: asyncio.Task[None]) -> None:
        self._tasks.pop(key, None)
        if isinstance(key, tuple) and self._drivers.pop(key, None) is not None:
            jid, system = key
            self._board.running.get(system, []).remove(jid)
        if task.cancelled() or (problem := task.exception()) is None:
            return
        if not isinstance(problem, LeaseLost | NotStored | OperationError):
            log.error("a system without an agent: %s", problem, exc_info=problem)

    async def _end_all(self) -> None:
        for task in list(self._tasks.values()):
            await end(task)

    async def stop(self) -> None:
        """Close the connections to all hosts; jobs that run there continue."""
        await self._end_all()
        if self._tools is not None:
            await self._tools.reach.transport.close()
            if self._tools.pillar is not None:
                await self._tools.pillar.close()
