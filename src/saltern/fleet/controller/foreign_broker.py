"""An existing NATS as the broker of a controller: it has imported the operator and the account of this fleet.

Its operator decides about its disks, its network and its TLS. The controller cannot push the list of revoked
keys there: the new JWT of the account is written beside the keys, to be imported again.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit

import msgspec

from saltern.fleet.broker.authority import load_or_make_authority
from saltern.fleet.broker.config import BrokerSettings
from saltern.fleet.broker.external import ExistingBroker
from saltern.fleet.broker.tls import prepare_certificates
from saltern.fleet.broker.tokens import TokenPlace, new_token
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.connection import Connection
from saltern.fleet.bus.ports import Bus
from saltern.fleet.identity.keys import OWNER_ONLY
from saltern.fleet.identity.membership import KeyCredential, client_tls
from saltern.fleet.identity.mint import controller_name
from saltern.fleet.identity.token import JoinToken, TokenRecord
from saltern.fleet.protocol.keys import SigningKey
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.files import read, write
from saltern.system.private import make_private

DAY = 86_400.0
LIFE = 3650 * DAY
REVOKED, ACCOUNT, OPERATOR = "revoked.json", "account.jwt", "operator.jwt"


class ForeignBroker:
    """The same interface as the controller's own broker."""

    def __init__(
        self,
        folder: str,
        fleet: str,
        url: str,
        settings: BrokerSettings,
        *,
        ca: str = "",
        now: Callable[[], float],
    ) -> None:
        self.settings = settings
        self.folder = os.path.abspath(folder)
        self.peers: tuple[str, ...] = ()
        self.system_bus: Bus | None = None  # its events belong to its operator
        self._now = now
        self._url = url
        make_private(self.folder)
        self.authority = load_or_make_authority(os.path.join(self.folder, "keys"), fleet)
        prepare_certificates(os.path.join(self.folder, "tls"), settings.names, fleet=fleet, now=now())
        self._broker = ExistingBroker(url)
        self.ca = _certificate(ca) if ca else b""

    async def start(self) -> None:
        """Write the files to import there, and make the streams."""
        self._write_claims(self.revoked)
        bus = await self.connect_controller("setup")
        try:
            await self._broker.prepare(bus)
        finally:
            await bus.close()

    async def prepare_streams(self, *, wait: float) -> None:
        """Do nothing: streams are made at the start, and their replicas are decided there."""

    async def stop(self) -> None:
        """Leave the broker running: it belongs to others."""

    @property
    def servers(self) -> tuple[str, ...]:
        return tuple(_public(one) for one in self._broker.servers)

    async def connect_controller(self, name: str) -> NatsBus:
        key = SigningKey.new()
        jwt = self.authority.mint.controller(name, key.public, now=self._now(), life=LIFE)
        secure = any(one.startswith("tls://") for one in self.servers)
        settings = Connection(
            servers=self.servers,
            name=controller_name(name),
            credential=KeyCredential(jwt, key),
            tls=client_tls(self.ca) if secure else None,
        )
        try:
            return await self._broker.connect_controller(name, settings)
        except OperationError as problem:
            where = os.path.join(self.folder, OPERATOR), os.path.join(self.folder, ACCOUNT)
            one = problem.diagnostics[0]
            fix = f"{one.fix}; it must have {where[0]} as its operator and {where[1]} in its resolver"
            raise OperationError(Diagnostic(code=one.code, what=one.what, fix=fix)) from None

    def new_token(
        self, roots: tuple[bytes, ...], *, life: float, uses: int = 1, site: str = ""
    ) -> tuple[JoinToken, TokenRecord]:
        place = TokenPlace(servers=self.servers, ca=self.ca, roots=roots)
        return new_token(self.authority, place, now=self._now(), life=life, uses=uses, site=site)

    @property
    def revoked(self) -> dict[str, int]:
        data = read(os.path.join(self.folder, REVOKED))
        return msgspec.json.decode(data, type=dict[str, int]) if data else {}

    async def set_revoked(self, revoked: dict[str, int]) -> None:
        """Write the list, and the claims that contain it, for the operator of the broker to import."""
        write(os.path.join(self.folder, REVOKED), msgspec.json.encode(revoked), OWNER_ONLY)
        self._write_claims(revoked)

    def _write_claims(self, revoked: dict[str, int]) -> None:
        now, authority = self._now(), self.authority
        claims = {OPERATOR: authority.operator_jwt(now), ACCOUNT: authority.account_jwt(now, revoked)}
        for name, jwt in claims.items():
            write(os.path.join(self.folder, name), jwt.encode() + b"\n", OWNER_ONLY)


def _public(url: str) -> str:
    """The URL without user and password: agents have their own credentials."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _certificate(path: str) -> bytes:
    """The certificate in a PEM file, in the form for agents."""
    try:
        with open(path, encoding="ascii") as file:
            return ssl.PEM_cert_to_DER_cert(file.read())
    except (OSError, ValueError) as problem:
        what = f"the CA of the broker, {path}, cannot be read: {problem}"
        raise OperationError(
            Diagnostic(code="controller-option", what=what, fix="correct 'bus_ca'")
        ) from None
