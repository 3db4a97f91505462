"""The broker of a controller's own: keys, certificates, configuration, process, streams, in one folder.

The folder has what must be kept (``keys``, ``tls``, ``revoked.json``) and what may be lost (``streams``,
``accounts``).
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress

import msgspec

from saltern.fleet.broker.authority import SYSTEM_NAME, load_or_make_authority
from saltern.fleet.broker.binary import Binary, find_binary
from saltern.fleet.broker.config import BrokerSettings, ConfigParts, links_of, render_config
from saltern.fleet.broker.process import BrokerProcess, end_left
from saltern.fleet.broker.sites import read_sites, servers_of
from saltern.fleet.broker.stream_folder import set_streams_aside
from saltern.fleet.broker.streams import make_streams
from saltern.fleet.broker.system import BrokerSystem, Vitals
from saltern.fleet.broker.tls import ca_der, prepare_certificates
from saltern.fleet.broker.tokens import TokenPlace, new_token
from saltern.fleet.bus.backoff import Backoff
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.nats import Connection
from saltern.fleet.bus.ports import BusError
from saltern.fleet.bus.tasks import end
from saltern.fleet.identity.keys import OWNER_ONLY
from saltern.fleet.identity.membership import KeyCredential, client_tls
from saltern.fleet.identity.mint import controller_name
from saltern.fleet.identity.revocation import prune, restore, revoke
from saltern.fleet.identity.token import JoinToken, TokenRecord
from saltern.fleet.protocol.keys import SigningKey
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.files import read, write
from saltern.system.private import make_private

log = logging.getLogger(__name__)

LOCAL = Backoff(steps=(0.05, 0.1, 0.2, 0.5, 1.0), stable=5.0)
CONFIG_FILE = "broker.conf"
LOCAL_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # where one that listens everywhere is reached here
REVOKED_FILE = "revoked.json"
HEALTHY = 30.0
DAY = 86_400.0
ISSUED = 1.0  # of the operator's claims: with others a running broker refuses to read its configuration again


class EmbeddedBroker:
    """Start it, connect controllers to it, make join tokens, revoke keys. ``crashed`` is called after a
    crash.
    """

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
        self.settings = settings
        self.folder = os.path.abspath(folder)
        self._now = now
        self._crashed = crashed
        self._config_file = os.path.join(self.folder, CONFIG_FILE)
        self._address = (LOCAL_HOSTS.get(settings.host, settings.host), settings.port)
        make_private(self.folder)
        self.authority = load_or_make_authority(os.path.join(self.folder, "keys"), fleet)
        self._tls = prepare_certificates(
            os.path.join(self.folder, "tls"), settings.names, fleet=fleet, now=now()
        )
        self._binary = find_binary(binary)
        self._process: BrokerProcess | None = None
        self._system_bus: NatsBus | None = None
        self._guard: asyncio.Task[None] | None = None
        self._leaving = False
        self._lock = asyncio.Lock()
        self.peers: tuple[str, ...] = ()  # addresses of other brokers, for agents
        self.sites_port = 0  # where it takes links of sites; 0 if it does not

    # -- life --------------------------------------------------------------------------------------

    async def start(self) -> Vitals:
        """Start it, or take over the one that runs; return when it is well and safe.

        A broker of a cluster is not well before others are there: see ``prepare_streams``.
        """
        self._leaving = False
        before = (read(self._config_file) or b"").decode()
        if before and links_of(before) != links_of(self._config()):  # it is linked with others now
            await end_left(BrokerProcess(self._binary, self._config_file, self.folder, self._address))
        self._process = self._prepared(self._binary)
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
        await self.stop()  # what was left running is not ours to talk to: it has older keys
        return await self.start()

    def _prepared(self, binary: Binary) -> BrokerProcess:
        set_streams_aside(self.folder, clustered=self.settings.cluster is not None)
        write(self._config_file, self._config().encode(), OWNER_ONLY)
        return BrokerProcess(binary, self._config_file, self.folder, self._address)

    def _config(self) -> str:
        now, authority, sites = self._now(), self.authority, read_sites(self.folder)
        self.sites_port = sites.port if sites is not None else 0
        parts = ConfigParts(
            folder=self.folder,
            certificates=self._tls,
            operator_jwt=authority.operator_jwt(ISSUED),
            system_account=authority.system_name,
            accounts={
                authority.system_name: authority.system_jwt(now),
                authority.account_name: authority.account_jwt(now, self.revoked),
            },
            sites_port=self.sites_port,
        )
        return render_config(self.settings, parts)

    async def _introduce(self) -> Vitals:
        """The first talk with a started broker: claims, durability, health, streams."""
        if self._system_bus is None:
            credential = self.authority.system_credential(self._now(), life=3650 * DAY)
            self._system_bus = await NatsBus.connect(self._connection(SYSTEM_NAME, credential))
            self._guard = asyncio.create_task(self._keep_running())
        await self._system_bus.wait_connected()
        await self.system.push(self.authority.account_jwt(self._now(), self.revoked))
        vitals = await self.system.check_durability()
        if self.settings.cluster is None:
            await self.prepare_streams()
        return vitals

    async def prepare_streams(self, *, wait: float = HEALTHY) -> None:
        """Return when the broker is well and has all streams. In a cluster that needs most of its brokers."""
        await self._until_healthy(wait)
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

    async def _until_healthy(self, wait: float) -> None:
        problem = "it was not asked"
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                while problem := await self.system.health():
                    await asyncio.sleep(0.05)
        if problem:
            raise _unwell(problem, self.folder)

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
                    continue  # another one took its place, on purpose
                attempt = 0 if time.monotonic() - since > LOCAL.stable else attempt + 1
                self._crashed("the broker ended unexpectedly; it is started again")
                await asyncio.sleep(LOCAL.delay(attempt))
                try:
                    await self._run(self._binary)
                except (OperationError, BusError, TimeoutError) as problem:
                    log.error("the broker could not be started again: %s", problem)

    async def stop(self, *, gently: bool = False) -> None:
        """End the broker; ``gently`` sends clients away one after the other first."""
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
        """Run another server program on the same data. If it does not come up, the old one is started
        again.
        """
        new, old = find_binary(path, any_version=any_version), self._binary
        async with self._lock:
            await self._end_process(gently=True)
            try:
                return await self._run(new)
            except (OperationError, BusError, TimeoutError) as problem:
                await self._end_process(gently=False)
                await self._run(old)
                what = f"{path} does not work, and {old.path} was started again: {problem}"
                fix = "nothing was lost; look into broker.log"
                raise OperationError(Diagnostic(code="fleet-broker-failed", what=what, fix=fix)) from None

    async def restart(self) -> Vitals:
        """End the broker, and start it on the same data: clients connect again by themselves."""
        async with self._lock:
            await self._end_process(gently=False)
            return await self._run(self._binary)

    def read_again(self) -> None:
        """Have the broker read its configuration and its certificates again; connections stay."""
        write(self._config_file, self._config().encode(), OWNER_ONLY)
        if self._process is not None:
            self._process.reload()

    async def _run(self, binary: Binary) -> Vitals:
        """Start this program, and talk to it as soon as our own connection to the old one is known to be
        gone.
        """
        self._binary = binary
        self._process = self._prepared(binary)
        await self._process.start()
        async with asyncio.timeout(HEALTHY):
            while True:
                try:
                    return await self._introduce()
                except BusError:
                    if not self._process.alive:
                        raise
                    await asyncio.sleep(0.1)

    # -- what controllers need -----------------------------------------------------------------------

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None else 0

    @property
    def system(self) -> BrokerSystem:
        if self._system_bus is None:
            raise BusError("the broker is not started")
        return BrokerSystem(self._system_bus)

    @property
    def system_bus(self) -> NatsBus:
        """The system account's bus: presence of clients is published there."""
        if self._system_bus is None:
            raise BusError("the broker is not started")
        return self._system_bus

    @property
    def ca(self) -> bytes:
        return ca_der(self._tls)

    @property
    def servers(self) -> tuple[str, ...]:
        """The addresses for agents."""
        return tuple(f"tls://{_bracketed(name)}:{self.settings.port}" for name in self.settings.names)

    def _connection(self, name: str, credential: KeyCredential) -> Connection:
        server = f"tls://{_bracketed(self._address[0])}:{self.settings.port}"
        return Connection(
            servers=(server,),
            name=name,
            credential=credential,
            tls=client_tls(self.ca),
            server_name=self.settings.names[0],
            backoff=LOCAL,
        )

    async def connect_controller(self, name: str, *, life: float = 3650 * DAY) -> NatsBus:
        """A bus with the rights of a controller."""
        key = SigningKey.new()
        jwt = self.authority.mint.controller(name, key.public, now=self._now(), life=life)
        return await NatsBus.connect(self._connection(controller_name(name), KeyCredential(jwt, key)))

    def new_token(
        self, roots: tuple[bytes, ...], *, life: float = DAY, uses: int = 1, site: str = ""
    ) -> tuple[JoinToken, TokenRecord]:
        """A token for a machine, and what the controller keeps of it."""
        own = tuple(dict.fromkeys((*self.servers, *self.peers)))
        servers = servers_of(self.folder, site) or own
        place = TokenPlace(servers=servers, ca=self.ca, roots=roots)
        return new_token(self.authority, place, now=self._now(), life=life, uses=uses, site=site)

    # -- revocation ----------------------------------------------------------------------------------

    @property
    def revoked(self) -> dict[str, int]:
        data = read(os.path.join(self.folder, REVOKED_FILE))
        return prune(msgspec.json.decode(data, type=dict[str, int]), self._now()) if data else {}

    async def revoke(self, key: bytes) -> None:
        """End every credential of this key: its connections are closed when this returns."""
        await self._change_revoked(revoke(self.revoked, key, self._now()))

    async def restore(self, key: bytes) -> None:
        await self._change_revoked(restore(self.revoked, key, self._now()))

    async def set_revoked(self, revoked: dict[str, int]) -> None:
        """Make this the list of revoked keys."""
        await self._change_revoked(revoked)

    async def _change_revoked(self, revoked: dict[str, int]) -> None:
        """On disk first, in the configuration of the next start too: a revoked key never comes back."""
        write(os.path.join(self.folder, REVOKED_FILE), msgspec.json.encode(revoked), OWNER_ONLY)
        write(self._config_file, self._config().encode(), OWNER_ONLY)
        await self.system.push(self.authority.account_jwt(self._now(), revoked))


def _unwell(problem: str, folder: str) -> OperationError:
    what, fix = f"the broker is not well: {problem}", f"look into {folder}/broker.log"
    return OperationError(Diagnostic(code="fleet-broker-failed", what=what, fix=fix))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
