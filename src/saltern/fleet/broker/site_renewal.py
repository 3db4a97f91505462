"""Renews the certificate of a site's running broker: the site makes a key, and a controller certifies it.

The key never leaves the site. The answer needs no signature of its own: the site checks it against the CA in
its kit. A certificate received since the kit was made is kept beside the broker.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.broker.accounts import LOCAL
from saltern.fleet.broker.sites import Kit, own_name
from saltern.fleet.broker.tls import is_due
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.connection import Connection
from saltern.fleet.bus.ports import NoListener
from saltern.fleet.identity.keys import OWNER_ONLY
from saltern.fleet.identity.membership import KeyCredential, client_tls
from saltern.fleet.identity.nkeys import Holder, read_seed
from saltern.fleet.protocol.codec import decode, encode
from saltern.fleet.protocol.ids import new_nonce
from saltern.fleet.protocol.site_messages import SiteCertificate, SiteCertificateRequest
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.files import read, write

FILE = "renewed.json"
TIMEOUT = 10.0


class Pair(Struct, frozen=True):
    """A certificate with its CA, and its key, as PEM."""

    certificate: str
    key: str


def newest(kit: Kit, folder: str) -> Kit:
    """The kit with the certificate that expires last: its own, or the one received since."""
    data = read(os.path.join(folder, FILE))
    try:
        found = msgspec.json.decode(data, type=Pair) if data else None
        if found is not None and _ends(found.certificate) > _ends(kit.certificate):
            check_issued(found, kit.ca)
            return replace(kit, certificate=found.certificate, key=found.key)
    except (msgspec.DecodeError, ValueError):
        pass  # damaged, or of another CA: the kit was made later
    return kit


class SiteRenewal:
    """Call ``step`` now and then; it returns True if there is a new certificate in the folder."""

    def __init__(self, kit: Kit, folder: str, now: Callable[[], float]) -> None:
        self.kit = kit
        self.folder = folder
        self._now = now

    async def step(self, server: str) -> bool:
        """Renew the certificate if it is due. Raises ``BusError`` and ``OperationError``."""
        held = x509.load_pem_x509_certificate(newest(self.kit, self.folder).certificate.encode())
        if not is_due(held, datetime.fromtimestamp(self._now(), UTC)):
            return False
        if not self.kit.own:
            raise self._problem("its kit was made by an earlier version, and cannot ask for one")
        key = ec.generate_private_key(ec.SECP256R1())
        made = Pair(await self._fetch_certificate(key, server), _private(key))
        try:
            check_issued(made, self.kit.ca)
        except ValueError as problem:
            raise self._problem(f"a controller answered with a wrong certificate: {problem}") from None
        write(os.path.join(self.folder, FILE), msgspec.json.encode(made), OWNER_ONLY)
        return True

    async def _fetch_certificate(self, key: ec.EllipticCurvePrivateKey, server: str) -> str:
        bus = await NatsBus.connect(own_connection(self.kit, server))
        try:
            ask = SiteCertificateRequest(nonce=new_nonce(), key=_public(key))
            subject = SUBJECTS["site-certificate"].of(site=self.kit.site)
            answer = decode(SiteCertificate, (await bus.request(subject, encode(ask), timeout=TIMEOUT)).data)
        except NoListener:
            raise self._problem("no controller listens: is the link to the fleet up?") from None
        finally:
            await bus.close()
        if answer.problem or answer.nonce != ask.nonce:
            raise self._problem(answer.problem or "the answer belongs to another request")
        return answer.certificate

    def _problem(self, what: str) -> OperationError:
        ends = datetime.fromtimestamp(_ends(newest(self.kit, self.folder).certificate), UTC)
        fix = f"saltern site add {self.kit.site} on the controller makes the kit again"
        what = f"{what}; the one in use ends on {ends:%Y-%m-%d}"
        return OperationError(Diagnostic(code="site-certificate", what=what, fix=fix))


def own_connection(kit: Kit, server: str) -> Connection:
    """How a site connects to its own broker, with the credential of its kit."""
    jwt, seed = parts_of(kit.own)
    ca = x509.load_pem_x509_certificate(kit.ca.encode()).public_bytes(Encoding.DER)
    return Connection(
        servers=(server,),
        name=own_name(kit.site),
        credential=KeyCredential(jwt, read_seed(seed, Holder.USER)),
        tls=client_tls(ca),
        server_name=kit.host,
        backoff=LOCAL,
    )


def check_issued(pair: Pair, ca: str) -> None:
    """Raises ``ValueError`` unless the CA has certified this key. Pure."""
    issuer = x509.load_pem_x509_certificate(ca.encode())
    found = x509.load_pem_x509_certificate(pair.certificate.encode())
    try:
        found.verify_directly_issued_by(issuer)
    except (InvalidSignature, TypeError):
        raise ValueError("it is not signed by the CA of this fleet") from None
    key = load_pem_private_key(pair.key.encode(), None)
    if _of(found.public_key()) != _of(key.public_key()):
        raise ValueError("it is for another key")


def _ends(certificate: str) -> float:
    return x509.load_pem_x509_certificate(certificate.encode()).not_valid_after_utc.timestamp()


def _of(key: object) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)  # type: ignore[attr-defined,no-any-return]


def _public(key: ec.EllipticCurvePrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def _private(key: ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def parts_of(credentials: str) -> tuple[str, str]:
    """JWT and seed of the file of a credential: the lines that are no markers."""
    jwt, seed = (line for line in credentials.splitlines() if line and not line.startswith("--"))
    return jwt, seed
