"""Who may connect to the broker of a controller, and how: keys, claims, certificates, revocations."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable

import msgspec

from saltern.fleet.broker.authority import load_or_make_authority
from saltern.fleet.broker.config import BrokerSettings, ConfigParts, render_config
from saltern.fleet.broker.sites import read_sites, servers_of
from saltern.fleet.broker.system import BrokerSystem
from saltern.fleet.broker.tls import ca_der, prepare_certificates
from saltern.fleet.broker.tokens import TokenPlace, new_token
from saltern.fleet.bus.backoff import Backoff
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.connection import Connection
from saltern.fleet.identity.keys import OWNER_ONLY
from saltern.fleet.identity.membership import KeyCredential, client_tls
from saltern.fleet.identity.mint import controller_name
from saltern.fleet.identity.revocation import prune
from saltern.fleet.identity.token import JoinToken, TokenRecord
from saltern.fleet.protocol.keys import SigningKey
from saltern.system.files import read, write
from saltern.system.private import make_private

LOCAL = Backoff(steps=(0.05, 0.1, 0.2, 0.5, 1.0), stable=5.0)
CONFIG_FILE = "broker.conf"
LOCAL_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # the local address of a broker that listens everywhere
REVOKED_FILE = "revoked.json"
DAY = 86_400.0
LIFE = 3650 * DAY  # of the credentials that controllers have
ISSUED = 1.0  # of the operator's claims: if they change, a running broker refuses to reload its configuration


class BrokerAccounts(ABC):
    """What the broker knows about its clients: written to its configuration, and sent to a running broker."""

    def __init__(self, folder: str, fleet: str, settings: BrokerSettings, now: Callable[[], float]) -> None:
        self.settings = settings
        self.folder = os.path.abspath(folder)
        self.now = now
        self.address = (LOCAL_HOSTS.get(settings.host, settings.host), settings.port)
        self.config_file = os.path.join(self.folder, CONFIG_FILE)
        make_private(self.folder)
        self.authority = load_or_make_authority(os.path.join(self.folder, "keys"), fleet)
        self._tls = prepare_certificates(
            os.path.join(self.folder, "tls"), settings.names, fleet=fleet, now=now()
        )
        self.peers: tuple[str, ...] = ()  # addresses of other brokers, for agents
        self.sites_port = 0  # the port for links of sites; 0 if it takes none

    @property
    @abstractmethod
    def system_bus(self) -> NatsBus:
        """The bus of the system account, on which the broker publishes the presence of clients."""

    @property
    def system(self) -> BrokerSystem:
        """Requests to the running broker."""
        return BrokerSystem(self.system_bus)

    def config(self) -> str:
        now, authority, sites = self.now(), self.authority, read_sites(self.folder)
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

    def write_config(self) -> None:
        write(self.config_file, self.config().encode(), OWNER_ONLY)

    @property
    def ca(self) -> bytes:
        return ca_der(self._tls)

    @property
    def servers(self) -> tuple[str, ...]:
        """The addresses for agents."""
        return tuple(f"tls://{_bracket(name)}:{self.settings.port}" for name in self.settings.names)

    def connection(self, name: str, credential: KeyCredential) -> Connection:
        server = f"tls://{_bracket(self.address[0])}:{self.settings.port}"
        return Connection(
            servers=(server,),
            name=name,
            credential=credential,
            tls=client_tls(self.ca),
            server_name=self.settings.names[0],
            backoff=LOCAL,
        )

    async def connect_controller(self, name: str, *, life: float = LIFE) -> NatsBus:
        """A bus with the rights of a controller."""
        key = SigningKey.new()
        jwt = self.authority.mint.controller(name, key.public, now=self.now(), life=life)
        return await NatsBus.connect(self.connection(controller_name(name), KeyCredential(jwt, key)))

    def new_token(
        self, roots: tuple[bytes, ...], *, life: float = DAY, uses: int = 1, site: str = ""
    ) -> tuple[JoinToken, TokenRecord]:
        """A join token for a machine, and the record of it that the controller keeps."""
        own = tuple(dict.fromkeys((*self.servers, *self.peers)))
        servers = servers_of(self.folder, site) or own
        place = TokenPlace(servers=servers, ca=self.ca, roots=roots)
        return new_token(self.authority, place, now=self.now(), life=life, uses=uses, site=site)

    @property
    def revoked(self) -> dict[str, int]:
        data = read(os.path.join(self.folder, REVOKED_FILE))
        return prune(msgspec.json.decode(data, type=dict[str, int]), self.now()) if data else {}

    async def set_revoked(self, revoked: dict[str, int]) -> None:
        """Replace the list of revoked keys; their connections are closed when this returns.

        The list is written to disk first, also for the next start: a revoked key never works again.
        """
        write(os.path.join(self.folder, REVOKED_FILE), msgspec.json.encode(revoked), OWNER_ONLY)
        self.write_config()
        await self.system.push(self.authority.account_jwt(self.now(), revoked))


def _bracket(host: str) -> str:
    return f"[{host}]" if ":" in host else host
