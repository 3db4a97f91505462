"""The parts of a controller, made from a bus, a database and an identity, without processes and files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from saltern.fleet.bus.poke import Poker
from saltern.fleet.bus.ports import Bus
from saltern.fleet.bus.service import Services
from saltern.fleet.controller.alarms import Alarms
from saltern.fleet.controller.batches import Batches
from saltern.fleet.controller.callbacks import CallbackOptions, Callbacks
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.chains.compiler import Permit, Seams
from saltern.fleet.controller.chains.desk import ChainDesk
from saltern.fleet.controller.chains.keeper import ChainKeeper
from saltern.fleet.controller.chains.own_checks import OwnChecks
from saltern.fleet.controller.chains.plan_desk import PlanDesk
from saltern.fleet.controller.chains.plan_keeper import PlanKeeper
from saltern.fleet.controller.chains.plan_seal import Seal
from saltern.fleet.controller.chains.publisher import Publisher
from saltern.fleet.controller.chains.shut import WindowWatch
from saltern.fleet.controller.chains.vault import Vault
from saltern.fleet.controller.desk_registry import DeskRegistry
from saltern.fleet.controller.dispatch import Dispatcher
from saltern.fleet.controller.duties import (
    Deadlines,
    Nudges,
    OldFiles,
    PresenceKeeper,
    Retention,
)
from saltern.fleet.controller.health import Health
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.indexer import Indexer
from saltern.fleet.controller.inventory import Inventory
from saltern.fleet.controller.mine import MineDesk
from saltern.fleet.controller.peer_runners import PeerRunners
from saltern.fleet.controller.peers import PeerDesk, PeerOptions
from saltern.fleet.controller.presence import PresenceBoard
from saltern.fleet.controller.progress import ProgressDesk
from saltern.fleet.controller.reactor.act import Actor
from saltern.fleet.controller.reactor.keeper import Reactor
from saltern.fleet.controller.reactor.options import ReactorOptions
from saltern.fleet.controller.reactor.plan import Planner
from saltern.fleet.controller.reactor.rules import Rules
from saltern.fleet.controller.reactor.runners import ReactionRunners
from saltern.fleet.controller.registry import Gate, Registry
from saltern.fleet.controller.render_reports import RenderReports
from saltern.fleet.controller.schedules import Schedules
from saltern.fleet.controller.service import Fleet
from saltern.fleet.controller.singleton import Hold, Singleton
from saltern.fleet.controller.ssh.board import SshBoard
from saltern.fleet.controller.ssh.desk import DeskOptions, SshDesk
from saltern.fleet.controller.ssh.questions import HostQuestions
from saltern.fleet.controller.ssh.roster import RosterKeeper
from saltern.fleet.controller.submission import Submission, Submitted
from saltern.fleet.controller.sync import SyncDesk, SyncOptions
from saltern.fleet.files.keeper import Roots, TreeKeeper
from saltern.fleet.files.sweep import Sweeper
from saltern.fleet.identity.desk import Alarm, EnrolDesk
from saltern.fleet.identity.mint import Mint
from saltern.fleet.pillar.desk import PillarDesk, PillarOptions
from saltern.fleet.protocol.envelope import Issuer
from saltern.fleet.render.desk import RenderDesk
from saltern.fleet.render.sessions import RunSessions
from saltern.fleet.render.trees import RenderTrees
from saltern.fleet.ssh.pillar import PillarSources
from saltern.fleet.store.database import Database
from saltern.fleet.store.retention import LIMITS, Limit
from saltern.fleet.store.systems import last_seen

WOKEN = ("batches", "chains", "chain-plans")  # work that follows from changes of jobs


def wake(hub: Hub, singletons: Mapping[str, Singleton]) -> None:
    """Have the hub wake the work that follows from stored changes."""
    hub.listeners += [singletons[name].wake for name in WOKEN]
    hub.job_listeners += [singletons[name].hint for name in WOKEN]
    hub.event_listeners.append(singletons["reactor"].wake)


class PartOptions(Struct, frozen=True, kw_only=True):
    """The options of the parts, besides the bus and the database."""

    name: str
    roots: tuple[bytes, ...]
    servers: tuple[str, ...] = ()
    nodegroups: dict[str, object] = {}
    limits: dict[str, Limit] = field(default_factory=lambda: LIMITS)
    next_sync: float = 600.0
    unsent: float = 15.0
    lease: float = 15.0
    reader: str = "indexer"
    files: Roots | None = None
    pillar: PillarOptions | None = None
    repeat_limit: int | None = None
    ssh: DeskOptions | None = None
    roster: Callable[[], Sequence[str]] = tuple
    replicas: int = 1
    reactor: ReactorOptions = ReactorOptions()
    peers: PeerOptions = PeerOptions()
    callbacks: CallbackOptions = CallbackOptions()
    health_checks: dict[str, tuple[str, ...]] = {}
    vault_seed: bytes = b""  # seed of the key for secret inputs; the same for all controllers of a fleet


class Asker(Struct, frozen=True):
    """The requester, by name."""

    name: str


def make_chain_keeper(parts: Parts, now: Callable[[], float]) -> ChainKeeper:
    """Make the part that drives runs of chains."""
    publisher = Publisher(parts.calls, parts.dispatcher, parts.vault, now=now, checks=parts.own_checks)
    windows = WindowWatch(parts.fleet.match)
    return ChainKeeper(parts.calls, publisher, parts.board, parts.hub, now=now, windows=windows)


def make_sync_desk(parts: Parts, issuer: Issuer, now: Callable[[], float]) -> SyncDesk:
    """Make the part that brings agents up to date that were away."""
    options = parts.options
    return SyncDesk(
        parts.calls,
        issuer,
        parts.poker,
        parts.board,
        parts.hub,
        parts.alarms,
        now=now,
        options=SyncOptions(servers=options.servers, next_sync=options.next_sync),
        trees=lambda: parts.trees.members if parts.trees else {},
    )


def local_pillar(trees: TreeKeeper | None, sources: PillarSources) -> PillarSources:
    """The local pillar, with roots that are git remotes as directories."""
    if trees is None:
        return sources
    roots = {name: trees.directories(sources.options[name]) for name in ("pillar_roots", "file_roots")}
    return replace(sources, options={**sources.options, **roots})


class Parts:
    """Everything of one controller that uses a bus."""

    def __init__(
        self,
        bus: Bus,
        database: Database,
        issuer: Issuer,
        gate: Callable[[Calls], Gate],
        mint: Mint | None,
        options: PartOptions,
        *,
        now: Callable[[], float],
    ) -> None:
        self.bus, self.options, self._now = bus, options, now
        self.calls = Calls(database)
        self.hub = Hub(self.calls)
        self.board = PresenceBoard(now)
        self.alarms = Alarms(self.calls, self.hub, now=now)
        self.poker = Poker(bus, options.name)
        self.vault = Vault(options.vault_seed or issuer.key.seed, issuer.fleet)
        self.ssh_board = SshBoard()
        self.board.without_agent = self.ssh_board.is_there
        self.roster = RosterKeeper(options.roster, now=now)
        self.inventory = Inventory(
            self.calls, options.nodegroups, ssh=self.ssh_board, roster=lambda: self.roster.known.groups
        )
        self.dispatcher = Dispatcher(
            bus, issuer, self.poker, self.board, self.calls, now=now, ssh=self.ssh_board
        )
        self.gate = gate(self.calls)
        self.registry = Registry(self.calls, self.gate, options.roots, now=now, changed=self.hub.wake)
        self.trees = self._trees(now)
        self.pillar = self._pillar(issuer.fleet, now)
        self.render = self._render(issuer.fleet, now)
        self.fleet = Fleet(
            self.calls, self.inventory, self.dispatcher, self.registry, self.hub, now=now, trees=self.trees
        )
        self.fleet.destinations = options.callbacks.reach
        self.fleet.health = self.health = Health(self, now=now)
        self.sync = make_sync_desk(self, issuer, now)
        self.own_checks = OwnChecks(self.calls, options.health_checks)
        self.chain_keeper = make_chain_keeper(self, now)
        self.progress = ProgressDesk(
            bus, self.calls, self.hub, self.alarms, now=now, on_leg=self.chain_keeper.on_progress
        )
        self.fleet.progress = self.progress.latest
        self.services = Services(bus, issuer, now=now, refused=self.alarms.refuse)
        self.desk = self._desk(issuer, mint, now) if mint is not None else None
        self.indexers = [
            Indexer(bus, self.calls, self.hub, self.alarms, now=now, stream=stream, name=options.reader)
            for stream in ("RETURNS", "EVENTS")
        ]
        self.mine = MineDesk(self.calls, self.fleet, now=now)
        self.ssh = self._ssh(now)
        self.seal = Seal(issuer, options.roots)
        self.fleet.reactor = self.reactor = self._reactor(now)
        runners = PeerRunners(self.calls, self.hub, options.reactor.socket, now=now)
        self.peers = PeerDesk(self.calls, self.fleet, runners, options.peers, self.alarms.refuse, now=now)
        self.singletons = self._singletons(now)
        wake(self.hub, self.singletons)
        seams = self._seams()
        plans = PlanDesk(self.calls, seams, self.seal, now=now)
        self.fleet.chains = ChainDesk(self.calls, seams, plans, now=now)
        if self.render is not None:
            self.hub.listeners.append(self.render.wake)
            self.hub.job_listeners.append(self.render.wake)
        if self.ssh is not None:
            self.ssh_board.wake = self.singletons["ssh"].wake

    def _reactor(self, now: Callable[[], float]) -> Reactor:
        options = self.options.reactor
        planner = Planner(options.id, self._engine_options, options.extra)
        runners = ReactionRunners(self.calls, self.hub, options.socket, now=now)
        actor = Actor(self.fleet, planner, runners, now=now)
        rules = Rules(self.calls, options, now=now)
        return Reactor(options, rules, planner, actor, self.hub, now=now)

    def _engine_options(self) -> dict[str, object]:
        """Options of the engine on the controller itself: the roots of the fleet as directories."""
        options = {**self.options.reactor.engine}
        if self.trees is not None and self.options.files is not None:
            options["file_roots"] = self.trees.directories(self.options.files.roots)
        return options

    def _ssh(self, now: Callable[[], float]) -> SshDesk | None:
        options = self.options.ssh
        if options is None:
            return None
        render = self.render.answer_host if self.render is not None else None
        asked = HostQuestions(self.calls, self.hub, self.mine.answer, now=now)
        options = replace(
            options,
            local=partial(local_pillar, self.trees),
            new_token=self.registry.new_token,
            render=render,
            fleet=asked.answer,
            open_arguments=self.vault.opened_arguments,
        )
        return SshDesk(self.calls, self.hub, self.bus, self.ssh_board, self.roster, options, now=now)

    def _trees(self, now: Callable[[], float]) -> TreeKeeper | None:
        files, name = self.options.files, self.options.name
        if files is None:
            return None
        return TreeKeeper(self.bus, self.calls, files, name=name, now=now, replicas=self.options.replicas)

    def _pillar(self, fleet: str, now: Callable[[], float]) -> PillarDesk | None:
        files, pillar = self.options.files, self.options.pillar
        if files is None or pillar is None or self.trees is None:
            return None
        state = f"{files.directory}/pillar-digests"
        roots = self.trees.directories
        return PillarDesk(self.calls, pillar, fleet=fleet, state=state, now=now, roots=roots)

    def _render(self, fleet: str, now: Callable[[], float]) -> RenderDesk | None:
        files, pillar = self.options.files, self.options.pillar
        if files is None or pillar is None or self.trees is None:
            return None
        sessions = RunSessions(
            RenderTrees(self.bus, self.calls, f"{files.directory}/render"),
            pillar,
            roots=self.trees.directories,
            cache=f"{files.directory}/render-cache",
            limit=self.options.repeat_limit,
        )
        report = RenderReports(self.calls, self.hub, now=now)
        return RenderDesk(
            self.calls, sessions, fleet=fleet, now=now, refused=self.alarms.refuse, report=report
        )

    def _desk(self, issuer: Issuer, mint: Mint, now: Callable[[], float]) -> EnrolDesk:
        registry = DeskRegistry(self.calls, now=now, changed=self.hub.wake)
        return EnrolDesk(self.bus, registry, mint, issuer, now=now, alarm=self._on_alarm)

    def _singletons(self, now: Callable[[], float]) -> dict[str, Singleton]:
        """The work of one controller at a time: name, work, seconds between two rounds."""
        rows: list[tuple[str, Callable[[Hold], Awaitable[bool | None]], float]] = [
            ("deadlines", Deadlines(self.dispatcher, self.hub, now=now), 1.0),
            ("batches", Batches(self.dispatcher, self.board, self.hub, now=now), 1.0),
            ("nudges", Nudges(self.dispatcher, self.board, now=now, after=self.options.unsent), 2.0),
            ("presence", PresenceKeeper(self.board, self.hub, now=now), 0.5),
            ("chains", self.chain_keeper, 0.5),
            ("chain-plans", PlanKeeper(self.calls, self.seal, self.hub, now=now), 1.0),
            ("reactor", self.reactor, 1.0),
            ("schedules", Schedules(self._chain_desk, self.vault, now=now), 1.0),
            ("callbacks", Callbacks(self.calls, self.options.callbacks, now=now), 1.0),
            ("retention", Retention(self.options.limits, now=now), 60.0),
        ]
        if files := self.options.files:
            sweeper = Sweeper(self.bus, self.calls, name=self.options.name, now=now)
            rows.append(("files", OldFiles(sweeper, files.versions), 3600.0))
        if self.ssh is not None:
            rows.append(("ssh", self.ssh, 1.0))
        made: list[Singleton] = []
        made += [
            Singleton(
                self.calls,
                name,
                self.options.name,
                work,
                every=every,
                seconds=max(self.options.lease, 2 * every),
                beside=made,
            )
            for name, work, every in rows
        ]
        return {name: one for (name, _, _), one in zip(rows, made, strict=True)}

    def _chain_desk(self) -> ChainDesk:
        assert self.fleet.chains is not None, "it is made with the other parts"
        return self.fleet.chains

    def _seams(self) -> Seams:
        """What runs of chains need from the other parts."""

        async def tree(environment: str) -> str:
            return await self.trees.newest(environment) if self.trees is not None else ""

        async def submit(who: str, ask: Submission, permit: Permit) -> Submitted:
            return await self.fleet.submit(Asker(who), ask, permit=permit)

        async def pillars(ids: Collection[str]) -> dict[str, str]:
            return await self.pillar.digests(ids, self.vault.fingerprint) if self.pillar is not None else {}

        return Seams(
            resolve=self.fleet.resolve,
            grain=self.inventory.grain,
            tree=tree,
            wake=self.singletons["chains"].wake,
            ids=lambda: self.inventory.ids,
            submit=submit,
            vault=self.vault,
            pillars=pillars,
            groups=self.inventory.fact_groups,
            checks=lambda: list(self.own_checks.commands),
        )

    def _on_alarm(self, alarm: Alarm) -> None:
        self.alarms.refuse(alarm.id, "enrol", alarm.why)

    async def start(self) -> None:
        """Start listening. The owner of the tasks starts the loops."""
        await self.poker.start()
        self.board.restore(await self.calls.read(last_seen))
        await self.services.serve("sync", self.sync.on_sync, parallel=256)
        await self.services.serve("facts", self.sync.on_facts)
        if self.pillar is not None:
            await self.services.serve("pillar", self.pillar.answer, parallel=64)
        if self.render is not None:
            await self.services.serve("render", self.render.answer, parallel=256)
        await self.services.serve("mine", self.mine.answer, parallel=32)
        await self.services.serve("publish", self.peers.answer, parallel=32)
        await self.progress.start()
        if self.desk is not None:
            await self.desk.start()

    async def look_around(self) -> None:
        """Poke all systems, to fill the board."""
        await self.inventory.refresh()
        found = await self.dispatcher.poke(self.ssh_board.agents(self.inventory.ids))
        self.board.found(found.there, {*found.away, *found.silent})
        self.board.is_known = True

    async def stop(self) -> None:
        self.hub.close()
        if self.ssh is not None:
            await self.ssh.stop()
        for one in self.singletons.values():
            await one.stop()
        for desk in (self.pillar, self.render):
            if desk is not None:
                await desk.close()
        await self.reactor.close()
        await self.peers.runners.close()
        await self.alarms.settle()
        await self.bus.close()
        self.calls.close()
