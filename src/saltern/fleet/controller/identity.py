"""The identity of a controller in its fleet: the root key, its own signing key, and its certificate.

The root key can be kept elsewhere: without it the controller works until its certificate expires.
"""

from __future__ import annotations

import os
import secrets

import msgspec
from msgspec import Struct

from saltern.fleet.identity.keys import OWNER_ONLY, check_private
from saltern.fleet.protocol.codec import decode
from saltern.fleet.protocol.envelope import Issuer, certify
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.messages import Certificate, Signed
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.files import read, write
from saltern.system.private import make_private

DAY = 86_400.0
LIFE = 365 * DAY
RENEW = 120 * DAY  # the remaining lifetime below which a certificate is renewed
LATE = 300.0  # certificates are valid from a little earlier: clocks differ
FILE, ROOT, KEY, CERTIFICATE = "fleet.json", "root.key", "signing.key", "certificate.json"


class FleetFile(Struct, frozen=True, kw_only=True):
    """The public data of the fleet and of this controller, and the ports that were chosen."""

    v: int = 1
    fleet: str
    name: str
    roots: tuple[bytes, ...]
    ports: dict[str, int] = {}


class ControllerIdentity(Struct, frozen=True, kw_only=True):
    """Loaded from the folder of keys. ``root`` is None if it is kept elsewhere."""

    file: FleetFile
    key: SigningKey
    certificate: Signed
    root: SigningKey | None

    @property
    def issuer(self) -> Issuer:
        return Issuer(fleet=self.file.fleet, key=self.key, certificate=self.certificate)

    @property
    def expires(self) -> float:
        return decode(Certificate, self.certificate.text.encode()).expires


def load_or_make_identity(folder: str, *, fleet: str, name: str, now: float) -> ControllerIdentity:
    """The identity in the folder; a new fleet if there is none. The certificate is renewed in time."""
    if not os.path.lexists(os.path.join(folder, FILE)):
        _make_fleet(folder, fleet or f"fleet-{secrets.token_hex(3)}", name)
    identity = load_identity(folder)
    if fleet and fleet != identity.file.fleet:
        what = (
            f"this controller is in the fleet {identity.file.fleet!r}, but the configuration says {fleet!r}"
        )
        raise OperationError(
            Diagnostic(code="fleet-name", what=what, fix="a fleet keeps its name; change it back")
        )
    return renew_certificate(folder, identity, now)


def renew_certificate(folder: str, identity: ControllerIdentity, now: float) -> ControllerIdentity:
    """Certify the key again if the root key is here and the certificate expires soon."""
    if identity.root is None or (identity.certificate.text and identity.expires > now + RENEW):
        return identity
    certificate = new_certificate(identity.root, identity.file, identity.key.public, now)
    save_certificate(folder, certificate)
    return msgspec.structs.replace(identity, certificate=certificate)


def save_certificate(folder: str, certificate: Signed) -> None:
    _write(folder, CERTIFICATE, msgspec.json.encode(certificate))


def new_certificate(root: SigningKey, file: FleetFile, key: bytes, now: float) -> Signed:
    return certify(
        root,
        Certificate(
            fleet=file.fleet,
            serial=f"{file.name}-{secrets.token_hex(6)}",
            name=file.name,
            key=key,
            issued=now - LATE,
            expires=now + LIFE,
        ),
    )


def _make_fleet(folder: str, fleet: str, name: str) -> None:
    """Make a new fleet. The file that names it is written last: if it exists, all others do."""
    root = SigningKey.new()
    make_private(folder)
    _write(folder, ROOT, root.seed.hex().encode())
    save_member(folder, FleetFile(fleet=fleet, name=name, roots=(root.public,)), SigningKey.new(), None)


def save_member(folder: str, file: FleetFile, key: SigningKey, certificate: Signed | None) -> None:
    """Write the files of a controller, except the root key."""
    make_private(folder)
    _write(folder, KEY, key.seed.hex().encode())
    _write(folder, CERTIFICATE, msgspec.json.encode(certificate) if certificate else b"")
    save_file(folder, file)


def save_file(folder: str, file: FleetFile) -> None:
    _write(folder, FILE, msgspec.json.format(msgspec.json.encode(file), indent=1))


def load_identity(folder: str) -> ControllerIdentity:
    """The identity in the folder; raises an error that says what is missing or damaged."""
    try:
        file = msgspec.json.decode(_read(folder, FILE), type=FleetFile)
        key = SigningKey(bytes.fromhex(_read(folder, KEY).decode()))
        root_text = _read(folder, ROOT, missing=True).decode()
        root = SigningKey(bytes.fromhex(root_text)) if root_text else None
        text = _read(folder, CERTIFICATE, missing=True)
        certificate = msgspec.json.decode(text, type=Signed) if text else Signed(text="", signature=bytes(64))
    except (msgspec.DecodeError, ValueError) as problem:
        raise damage_error(folder, str(problem)) from None
    if root is not None and root.public not in file.roots:
        raise damage_error(folder, f"{ROOT} is the key of another fleet")
    if not certificate.text and root is None:
        raise damage_error(folder, f"{CERTIFICATE} is missing, and {ROOT} is not here to make one")
    return ControllerIdentity(file=file, key=key, certificate=certificate, root=root)


def damage_error(folder: str, why: str) -> OperationError:
    what = f"the keys of the controller in {folder} are damaged: {why}"
    fix = "restore them: saltern controller restore FILE"
    return OperationError(Diagnostic(code="fleet-identity-damaged", what=what, fix=fix))


def _read(folder: str, name: str, *, missing: bool = False) -> bytes:
    path = os.path.join(folder, name)
    check_private(path)
    data = read(path)
    if data is None and not missing:
        raise damage_error(folder, f"{name} is missing")
    return (data or b"").strip()


def _write(folder: str, name: str, data: bytes) -> None:
    write(os.path.join(folder, name), data + b"\n", OWNER_ONLY)
