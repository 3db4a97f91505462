"""One controller, with its broker, its database and its loops: started, watched, stopped."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable, Coroutine
from typing import Any

from saltern.fleet.broker.config import BrokerSettings
from saltern.fleet.broker.embedded import EmbeddedBroker
from saltern.fleet.broker.presence import watch_clients
from saltern.fleet.broker.streams import make_streams
from saltern.fleet.bus.ports import BusError, Change, State
from saltern.fleet.bus.tasks import end
from saltern.fleet.controller.addresses import Addresses
from saltern.fleet.controller.batch import system_of
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.foreign_broker import ForeignBroker
from saltern.fleet.controller.gate import BrokerGate
from saltern.fleet.controller.identity import ControllerIdentity, load_or_make_identity
from saltern.fleet.controller.lock import lock
from saltern.fleet.controller.members import members as all_members
from saltern.fleet.controller.members import servers as member_servers
from saltern.fleet.controller.members import set_member
from saltern.fleet.controller.parts import PartOptions, Parts
from saltern.fleet.controller.places import ControllerPlaces
from saltern.fleet.controller.recover import generation, reader_name, recover_jobs
from saltern.fleet.controller.settings import ControllerSettings
from saltern.fleet.files.keeper import Roots
from saltern.fleet.pillar.desk import PillarOptions
from saltern.fleet.protocol.envelope import Trust
from saltern.fleet.store.database import Database, open_database
from saltern.fleet.store.migrate import migrate
from saltern.language.diagnostics import OperationError
from saltern.system.private import make_private

log = logging.getLogger(__name__)

LOOK_AROUND = 300.0  # seconds between two pokes of all: the broker's events are quicker, and may be lost
LOOK_OFTEN = 30.0  # if there are no such events
GIB = 1024**3


class Controller:
    """``start``, then ``fleet`` can be asked, until ``stop``. ``failed`` ends if a loop breaks."""

    def __init__(
        self, places: ControllerPlaces, settings: ControllerSettings, *, now: Callable[[], float] = time.time
    ) -> None:
        self.places = places
        self.settings = settings
        self.failed: asyncio.Future[None] | None = None
        self._now = now
        self._tasks: list[asyncio.Task[Any]] = []
        self._lock = -1

    # -- start ---------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Keys, database, broker, services, loops; an error says which of them cannot be had."""
        make_private(self.places.state)
        self._lock = lock(self.places.lock)
        self.identity = self._identity()
        self.addresses = Addresses(self.places, self.settings, self.identity.file)
        self.database = self._open_database()
        self.broker = self._broker()
        try:
            await self._start_broker()
            await self._start_parts()
        except BaseException:
            await self.stop()
            raise

    def _identity(self) -> ControllerIdentity:
        name = self.settings.name or socket.gethostname().split(".")[0] or "controller"
        return load_or_make_identity(self.places.keys, fleet=self.settings.fleet, name=name, now=self._now())

    def _open_database(self) -> Database:
        database = open_database(self.settings.database or f"sqlite:///{self.places.database}")
        migrate(database)
        return database

    def _broker(self) -> EmbeddedBroker | ForeignBroker:
        settings, addresses = self.settings, self.addresses
        with self.database.write() as connection:
            self.members = set_member(connection, self.identity.file.name, addresses.member())
        broker = BrokerSettings(
            host=addresses.host,
            port=addresses.broker_port,
            names=addresses.names,
            server_name=f"saltern-{self.identity.file.name}",
            max_file_store=settings.broker_store * GIB,
            cluster=None if settings.bus else addresses.cluster(self.members),
        )
        if settings.bus:
            return ForeignBroker(
                self.places.broker,
                self.identity.file.fleet,
                settings.bus,
                broker,
                ca=settings.bus_ca,
                now=self._now,
            )
        return EmbeddedBroker(
            self.places.broker,
            self.identity.file.fleet,
            broker,
            binary=settings.broker_program,
            now=self._now,
            crashed=lambda why: log.error("%s", why),
        )

    async def _start_broker(self) -> None:
        await self.broker.start()
        if self.broker.settings.cluster is not None:
            await self.broker.prepare_streams(wait=120.0)

    async def _start_parts(self) -> None:
        name = self.identity.file.name
        bus = await self.broker.connect_controller(name)
        with self.database.read() as connection:
            reader = reader_name(generation(connection))
        self.parts = Parts(
            bus,
            self.database,
            self.identity.issuer,
            self._gate,
            self.broker.authority.mint,
            PartOptions(
                name=name,
                roots=self.identity.file.roots,
                servers=tuple(dict.fromkeys((*self.broker.servers, *self._peers))),
                nodegroups=self.settings.nodegroups,
                limits=self.settings.limits,
                next_sync=self.settings.sync_seconds,
                files=self._files(),
                pillar=self._pillar(),
                replicas=self._replicas,
                reader=reader,
            ),
            now=self._now,
        )
        self.parts.health.expires = self.identity.expires
        self.broker.peers = self._peers
        bus.watch(self._on_bus)
        await self.gate.refresh()
        await self._recover()
        await self.parts.start()
        if self.broker.system_bus is not None:
            account = self.broker.authority.account_name
            await watch_clients(self.broker.system_bus, account, self.parts.board.on_client)
        self._start_loops()

    @property
    def _peers(self) -> tuple[str, ...]:
        """Where the brokers of the other controllers are; an existing NATS is the same for all."""
        return () if self.settings.bus else member_servers(self.members.values())

    @property
    def _replicas(self) -> int:
        cluster = self.broker.settings.cluster
        return cluster.replicas if cluster else 1

    def _files(self) -> Roots:
        """Where the files of the fleet are."""
        return Roots(
            roots=self.settings.file_roots or {"base": [self.places.root("salt")]},
            directory=self.places.files,
            versions=self.settings.retention_trees,
            git_interval=self.settings.git_seconds,
        )

    async def _recover(self) -> None:
        """Complete a backup that was put back from what the broker has."""
        await self.parts.inventory.refresh()
        trust = Trust(fleet=self.identity.file.fleet, roots=self.identity.file.roots)
        fleet = self.parts.fleet
        everyone = self.parts.inventory.ids
        number = await recover_jobs(
            self.parts.bus, self.parts.calls, trust, lambda target: fleet.match(target, everyone)
        )
        if number:
            log.warning("%d jobs that are younger than the backup were found in the broker", number)

    def _pillar(self) -> PillarOptions:
        settings = self.settings
        return PillarOptions(
            pillar_roots=settings.pillar_roots or {"base": [self.places.root("pillar")]},
            file_roots=settings.file_roots or {"base": [self.places.root("salt")]},
            nodegroups=settings.nodegroups,
            ext_pillar=settings.ext_pillar,
            merging=settings.pillar_source_merging_strategy,
            merge_lists=settings.pillar_merge_lists,
            pinned=settings.pinned_grains,
            life=settings.pillar_seconds,
        )

    def _gate(self, calls: Calls) -> BrokerGate:
        self.gate = BrokerGate(calls, self.broker, now=self._now)
        return self.gate

    def _start_loops(self) -> None:
        self.failed = asyncio.get_running_loop().create_future()
        parts = self.parts
        loops = [
            ("presence", self._look_around()),
            ("progress", parts.progress.run()),
            *((f"indexer {number}", one.run()) for number, one in enumerate(parts.indexers)),
            *((name, one.run()) for name, one in parts.singletons.items()),
        ]
        for name, loop in loops:
            self._spawn(name, loop)

    def _spawn(self, name: str, loop: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(loop, name=f"saltern {name}")
        task.add_done_callback(self._on_end)
        self._tasks.append(task)

    def _on_end(self, task: asyncio.Task[Any]) -> None:
        """A loop ends only if it is cancelled; whatever else ends it is a defect, and ends the process."""
        if task.cancelled() or self.failed is None or self.failed.done():
            return
        problem = task.exception()
        self.failed.set_exception(problem or RuntimeError(f"{task.get_name()} has ended"))

    async def _look_around(self) -> None:
        while True:
            try:
                await self.parts.look_around()
                await self._look_for_members()
            except (BusError, OperationError) as problem:
                log.warning("who is there cannot be found out now: %s", problem)
            await asyncio.sleep(LOOK_AROUND if self.broker.system_bus else LOOK_OFTEN)

    async def _look_for_members(self) -> None:
        """A controller that has joined since is in no route of this broker: it takes a restart."""
        known = await self.parts.calls.read(all_members)
        new = sorted(known.keys() - self.members.keys())
        self.parts.health.members = (
            f"the controllers {', '.join(new)} have joined: restart this one, so that its broker joins theirs"
            if new
            else ""
        )
        for warning in self.parts.health.warnings:
            log.warning("%s", warning)

    def _on_bus(self, change: Change) -> None:
        log.info("the bus: %s %s", change.state.value, change.why)
        if change.state is State.DROPPED:
            self.parts.alarms.refuse(system_of(change.why.partition(" ")[0]), "flood")
        if change.state is State.CONNECTED:
            self._spawn_once(self._repair())

    def _spawn_once(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.append(task)
        task.add_done_callback(self._tasks.remove)

    async def _repair(self) -> None:
        """After a reconnection: the broker's disk may be a new one, and who is there may have changed."""
        try:
            await make_streams(self.parts.bus, replicas=self._replicas)
            await self.gate.refresh()
            await self.parts.look_around()
        except (BusError, OperationError, TimeoutError) as problem:
            log.warning("after a reconnection: %s", problem)

    # -- stop ------------------------------------------------------------------------------------------

    async def stop(self) -> None:
        """End in order: no new work, then loops, then the bus, the broker, the database."""
        for task in [*self._tasks]:
            await end(task)
        if hasattr(self, "parts"):
            await self.parts.stop()
        if hasattr(self, "broker"):
            await self.broker.stop()
        if hasattr(self, "database"):
            self.database.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
