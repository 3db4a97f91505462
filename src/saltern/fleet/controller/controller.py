"""One controller with its broker, its database and its loops: starts, watches and stops them."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable

from msgspec.structs import replace

from saltern.fleet.broker.embedded import EmbeddedBroker
from saltern.fleet.broker.presence import watch_clients
from saltern.fleet.broker.renew_tls import renew_tls
from saltern.fleet.controller.addresses import Addresses
from saltern.fleet.controller.broker_disk import DiskWatch
from saltern.fleet.controller.build import Builder
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.certificates import CertificateKeeper
from saltern.fleet.controller.gate import BrokerGate
from saltern.fleet.controller.links import Links
from saltern.fleet.controller.lock import lock
from saltern.fleet.controller.loops import Loops
from saltern.fleet.controller.members import set_member
from saltern.fleet.controller.parts import Parts
from saltern.fleet.controller.paths import ControllerPaths
from saltern.fleet.controller.recover import recover_jobs
from saltern.fleet.controller.removal import check_not_removed
from saltern.fleet.controller.settings import ControllerSettings
from saltern.fleet.controller.site_desk import SiteDesk
from saltern.fleet.controller.upkeep import Upkeep
from saltern.fleet.controller.watch import Watch
from saltern.fleet.protocol.envelope import Trust
from saltern.system.private import make_private

log = logging.getLogger(__name__)

OTHERS = 120.0  # seconds that the brokers of a cluster wait for each other


class Controller:
    """After ``start``, use ``parts.fleet`` until ``stop``."""

    def __init__(
        self, paths: ControllerPaths, settings: ControllerSettings, *, now: Callable[[], float] = time.time
    ) -> None:
        self.paths = paths
        self.settings = settings
        self._now = now
        self._builder = Builder(paths, settings, now=now)
        self._lock = -1
        self.upkeep = Upkeep()

    async def start(self) -> None:
        """Start keys, database, broker, services and loops; an error says which of them failed.

        Who cancels it calls ``stop`` once it has ended: a library may lose a cancellation, so that it has to
        be repeated, and a repeated one would end the clean-up.
        """
        make_private(self.paths.state)
        self._lock = lock(self.paths.lock)
        self.loops = Loops()
        try:
            self._prepare()
            await self._start_broker()
            await self._start_parts()
        except asyncio.CancelledError:
            raise
        except BaseException:
            await self.stop()
            raise

    def _prepare(self) -> None:
        self.identity = self._builder.identity()
        self.addresses = Addresses(self.paths, self.settings, self.identity.file)
        self.database = self._builder.database()
        with self.database.write() as connection:
            check_not_removed(connection, self.identity)
            me = replace(self.addresses.member(), certificate=self.identity.certificate)
            self.members = set_member(connection, self.identity.file.name, me)
        self.broker = self._builder.broker(self.identity, self.addresses, self.members)

    async def _start_broker(self) -> None:
        await self.broker.start()
        if self.broker.settings.cluster is not None:
            await self.broker.prepare_streams(wait=OTHERS)

    async def _start_parts(self) -> None:
        options = self._builder.options(self.identity, self.broker, self.database)
        bus = await self.broker.connect_controller(options.name)
        self.issuer, mint = self.identity.issuer, self.broker.authority.mint
        self.parts = Parts(bus, self.database, self.issuer, self._gate, mint, options, now=self._now)
        self.parts.health.expires = self.identity.expires
        await self.gate.refresh()
        await self._recover()
        await self.parts.start()
        if isinstance(self.broker, EmbeddedBroker):
            parts, refused = self.parts, self.parts.alarms.refuse
            await SiteDesk(parts.bus, parts.calls, self.paths.broker, refused, now=self._now).start()
        await self._start_watch()
        self._start_loops()

    def _gate(self, calls: Calls) -> BrokerGate:
        self.gate = BrokerGate(calls, self.broker, now=self._now)
        return self.gate

    async def _recover(self) -> None:
        """Complete a restored backup from the contents of the broker."""
        await self.parts.inventory.refresh()
        trust = Trust(fleet=self.identity.file.fleet, roots=self.identity.file.roots)
        fleet, everyone = self.parts.fleet, self.parts.inventory.ids
        number = await recover_jobs(
            self.parts.bus, self.parts.calls, trust, lambda target: fleet.match(target, everyone)
        )
        if number:
            log.warning("%d jobs that are younger than the backup were found in the broker", number)

    async def _start_watch(self) -> None:
        self._watch = Watch(self.parts, self.gate, self.loops)
        self.parts.bus.watch(self._watch.on_bus)
        if self.broker.system_bus is not None:
            account = self.broker.authority.account_name
            await watch_clients(self.broker.system_bus, account, self.parts.board.on_client)

    def _start_loops(self) -> None:
        parts = self.parts
        rows = [
            ("presence", self._watch.look_around(often=self.broker.system_bus is None)),
            ("progress", parts.progress.run()),
            *((one.options.stream, one.run()) for one in parts.indexers),
            *((name, one.run()) for name, one in parts.singletons.items()),
        ]
        if parts.render is not None:
            rows.append(("render", parts.render.run()))
        if isinstance(self.broker, EmbeddedBroker):
            rows.append(("disk", DiskWatch(self.broker, parts.health).run()))
            links = Links(self.broker, parts, self.addresses, self.members, wait=OTHERS)
            self.upkeep.work += [links.follow_members, links.follow_sites, self._renew_tls]
        self.upkeep.work.append(self._certificates().step)
        rows.append(("upkeep", self.upkeep.run()))
        for name, loop in rows:
            self.loops.spawn(name, loop)

    def _certificates(self) -> CertificateKeeper:
        return CertificateKeeper(
            self.paths.keys, self.identity, self.issuer, self.parts.calls, self.parts.health, now=self._now
        )

    async def _renew_tls(self) -> None:
        if isinstance(self.broker, EmbeddedBroker) and renew_tls(self.broker, self._now()):
            log.warning("the certificate of the broker was renewed")

    async def stop(self) -> None:
        """End in order: loops, then the bus, the broker, the database."""
        await self.loops.end_all()
        if hasattr(self, "parts"):
            await self.parts.stop()
        if hasattr(self, "broker"):
            await self.broker.stop()
        if hasattr(self, "database"):
            self.database.close()
        os.close(self._lock)
