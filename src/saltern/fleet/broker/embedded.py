"""The controller's own broker: keys, certificates, configuration, process and streams, in one folder.

The folder holds what must be kept (``keys``, ``tls``, ``revoked.json``) and what may be lost (``streams``,
``accounts``).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress

from saltern.fleet.broker.accounts import LIFE, LOCAL, BrokerAccounts
from saltern.fleet.broker.authority import SYSTEM_NAME
from saltern.fleet.broker.binary import Binary, find_binary
from saltern.fleet.broker.config import BrokerSettings, links_of
from saltern.fleet.broker.process import BrokerProcess, end_left
from saltern.fleet.broker.stream_folder import set_streams_aside
from saltern.fleet.broker.streams import make_streams
from saltern.fleet.broker.system import BrokerSystem, Vitals
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.ports import BusError
from saltern.fleet.bus.tasks import end
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.files import read

log = logging.getLogger(__name__)

HEALTHY = 30.0


class EmbeddedBroker(BrokerAccounts):
    """The broker process, and a connection to its system account. ``crashed`` is called after a crash."""

    def __init__(
        self,
        folder: str,
        fleet: str,
        settings: BrokerSettings,
        *,
        binary: str = "",
        now: Callable[[], float] = time.time,
        crashed: Callable[[str], None] = lambda _why: None,
    ) -> None:
        super().__init__(folder, fleet, settings, now)
        self._crashed = crashed
        self._binary = find_binary(binary)
        self._process: BrokerProcess | None = None
        self._system_bus: NatsBus | None = None
        self._guard: asyncio.Task[None] | None = None
        self._leaving = False
        self._lock = asyncio.Lock()

    async def start(self) -> Vitals:
        """Start the broker, or take over one that runs; return when it is healthy and its data is durable.

        A broker of a cluster is not healthy before others are up: see ``prepare_streams``.
        """
        self._leaving = False
        before = (read(self.config_file) or b"").decode()
        if before and links_of(before) != links_of(self.config()):  # it is linked with others now
            await end_left(BrokerProcess(self._binary, self.config_file, self.folder, self.address))
        self._process = self._prepare(self._binary)
        await self._process.start()
        try:
            return await self._introduce()
        except BusError as problem:
            if not self._process.adopted:
                await self.stop()
                raise _unwell(str(problem), self.folder) from None
        except BaseException:
            await self.stop()
            raise
        await self.stop()  # the one left running has older keys, and does not accept ours
        return await self.start()

    def _prepare(self, binary: Binary) -> BrokerProcess:
        set_streams_aside(self.folder, clustered=self.settings.cluster is not None)
        self.write_config()
        return BrokerProcess(binary, self.config_file, self.folder, self.address)

    async def _introduce(self) -> Vitals:
        """The first exchange with a started broker: claims, durability, health, streams."""
        if self._system_bus is None:
            credential = self.authority.system_credential(self.now(), life=LIFE)
            self._system_bus = await NatsBus.connect(self.connection(SYSTEM_NAME, credential))
            self._guard = asyncio.create_task(self._keep_running())
        await self._system_bus.wait_connected()
        system = BrokerSystem(self._system_bus)
        await system.push(self.authority.account_jwt(self.now(), self.revoked))
        vitals = await system.check_durability()
        if self.settings.cluster is None:
            await self.prepare_streams()
        return vitals

    async def prepare_streams(self, *, wait: float = HEALTHY) -> None:
        """Return when the broker is healthy and has all streams; in a cluster, a majority of brokers must be
        up.
        """
        await _until_healthy(self.system, wait, self.folder)
        bus = await self.connect_controller("setup")
        cluster = self.settings.cluster
        deadline = time.monotonic() + wait
        try:
            while True:
                try:
                    return await make_streams(bus, replicas=cluster.replicas if cluster else 1)
                except BusError:  # an account gets its streams a moment after it is known
                    if time.monotonic() > deadline:
                        raise
                await asyncio.sleep(0.1)
        finally:
            await bus.close()

    async def _keep_running(self) -> None:
        """Start the broker again whenever it ends without having been asked to."""
        attempt = 0
        while self._process is not None:
            process, since = self._process, time.monotonic()
            await process.wait()
            async with self._lock:
                if self._leaving:
                    return
                if process is not self._process:
                    continue  # another process replaced it, on purpose
                attempt = 0 if time.monotonic() - since > LOCAL.stable else attempt + 1
                self._crashed("the broker ended unexpectedly; it is started again")
                await asyncio.sleep(LOCAL.delay(attempt))
                try:
                    await self._run(self._binary)
                except (OperationError, BusError, TimeoutError) as problem:
                    log.error("the broker could not be started again: %s", problem)

    async def stop(self, *, gently: bool = False) -> None:
        """End the broker; with ``gently``, disconnect clients one after the other first."""
        self._leaving = True
        await end(self._guard)
        self._guard = None
        await self._end_process(gently=gently)
        if self._system_bus is not None:
            await self._system_bus.close()
            self._system_bus = None

    async def _end_process(self, *, gently: bool) -> None:
        process, self._process = self._process, None
        if process is not None:
            await (process.retire() if gently else process.stop())

    async def leave_running(self) -> None:
        """Leave the broker running: the next controller takes it over."""
        process = self._process
        if process is not None:
            process.release()
        self._process = None
        await self.stop()
        self._process = process

    async def upgrade(self, path: str, *, any_version: bool = False) -> Vitals:
        """Run another server program on the same data. If it does not come up, start the old one again."""
        new, old = find_binary(path, any_version=any_version), self._binary
        async with self._lock:
            await self._end_process(gently=True)
            try:
                return await self._run(new)
            except (OperationError, BusError, TimeoutError) as problem:
                await self._end_process(gently=False)
                await self._run(old)
                what = f"{path} does not work, and {old.path} was started again: {problem}"
                fix = "nothing was lost; look at broker.log"
                raise OperationError(Diagnostic(code="fleet-broker-failed", what=what, fix=fix)) from None

    async def restart(self) -> Vitals:
        """End the broker, and start it on the same data: clients connect again by themselves."""
        async with self._lock:
            await self._end_process(gently=False)
            return await self._run(self._binary)

    def read_again(self) -> None:
        """Have the broker read its configuration and its certificates again; connections stay."""
        self.write_config()
        if self._process is not None:
            self._process.reload()

    async def _run(self, binary: Binary) -> Vitals:
        """Start this program, and talk to it once our connection to the old one has ended."""
        self._binary = binary
        self._process = self._prepare(binary)
        await self._process.start()
        async with asyncio.timeout(HEALTHY):
            while True:
                try:
                    return await self._introduce()
                except BusError:
                    if not self._process.alive:
                        raise
                    await asyncio.sleep(0.1)

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None else 0

    @property
    def system_bus(self) -> NatsBus:
        if self._system_bus is None:
            raise BusError("the broker is not started")
        return self._system_bus


async def _until_healthy(system: BrokerSystem, wait: float, folder: str) -> None:
    problem = "it was not asked"
    with suppress(TimeoutError):
        async with asyncio.timeout(wait):
            while problem := await system.health():
                await asyncio.sleep(0.05)
    if problem:
        raise _unwell(problem, folder)


def _unwell(problem: str, folder: str) -> OperationError:
    what, fix = f"the broker is not healthy: {problem}", f"look at {folder}/broker.log"
    return OperationError(Diagnostic(code="fleet-broker-failed", what=what, fix=fix))
