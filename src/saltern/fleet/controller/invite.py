"""Adds a controller: invited by one that has the root key, and set up on its own machine with the token.

What it needs is in the database, sealed to the secret in the token. It gets its own signing key, with a
certificate; the root key stays where it is.
"""

from __future__ import annotations

import base64
import os
import secrets
import zlib

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.controller.addresses import Addresses
from saltern.fleet.controller.identity import (
    FILE,
    ControllerIdentity,
    FleetFile,
    new_certificate,
    save_member,
)
from saltern.fleet.controller.members import members, set_member
from saltern.fleet.controller.paths import ControllerPaths
from saltern.fleet.controller.settings import ControllerSettings
from saltern.fleet.identity.keys import OWNER_ONLY
from saltern.fleet.protocol.keys import SealingKey, SigningKey
from saltern.fleet.protocol.messages import Signed
from saltern.fleet.protocol.seal import SealBroken, SealedFor, open_seal, seal
from saltern.fleet.store import audit
from saltern.fleet.store.database import Connection, Database
from saltern.fleet.store.invitations import Invitation, add_invitation, invitation, remove_invitation
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.files import read, write
from saltern.system.private import make_private

PREFIX = "saltern-controller-"
LIFE = 86_400.0
FILES = ("broker/keys/authority.json", "broker/tls/ca.pem", "broker/tls/ca.key")


class ControllerToken(Struct, frozen=True, kw_only=True):
    """The contents of the token: the invitation, and the secret that opens it."""

    v: int = 1
    fleet: str
    name: str
    id: str
    secret: bytes


class Bundle(Struct, frozen=True, kw_only=True):
    """The sealed data: the identity of the new controller, and what all brokers of the fleet share."""

    v: int = 1
    file: FleetFile
    seed: bytes
    certificate: Signed
    files: dict[str, bytes]


def invite(
    database: Database, paths: ControllerPaths, identity: ControllerIdentity, name: str, *, now: float
) -> str:
    """Store an invitation; return its token, which is shown once."""
    if database.is_sqlite:
        what = "the database of this controller is a file, which other machines cannot share"
        raise _bad(what, "move to PostgreSQL: docs/guides/controller.md says how")
    if identity.root is None:
        raise _bad(
            "the root key is not here, and only it can certify another controller", "put root.key back first"
        )
    key = SigningKey.new()
    file = replace(identity.file, name=name, ports={})
    bundle = Bundle(
        file=file,
        seed=key.seed,
        certificate=new_certificate(identity.root, file, key.public, now),
        files={part: _read_required(os.path.join(paths.state, part)) for part in FILES},
    )
    token = ControllerToken(
        fleet=file.fleet, name=name, id=secrets.token_hex(6), secret=secrets.token_bytes(32)
    )
    sealed = seal(msgspec.msgpack.encode(bundle), SealingKey(token.secret).public, _seal_purpose(token))
    one = Invitation(id=token.id, made_at=now, made_by=identity.file.name, expires=now + LIFE, sealed=sealed)
    with database.write() as connection:
        _invite(connection, one, name, now)
    return write_controller_token(token)


def _invite(connection: Connection, one: Invitation, name: str, now: float) -> None:
    if name in members(connection):
        raise _bad(f"the fleet already has a controller {name!r}", "choose another name")
    add_invitation(connection, one)
    audit.append(connection, f"controller {one.made_by}", "controller.invite", {"name": name}, now)


def join(
    database: Database, paths: ControllerPaths, settings: ControllerSettings, text: str, *, now: float
) -> str:
    """Make this machine the controller that a token invites; return its name. The token is then used up."""
    token = read_controller_token(text)
    if os.path.lexists(os.path.join(paths.keys, FILE)):
        raise _bad(f"{paths.state} already belongs to a controller", "use another --directory, or remove it")
    with database.write() as connection:
        found = invitation(connection, token.id, now)
        if found is None:
            raise _bad(
                "the invitation was used, has expired, or is in another database",
                "set 'database' as on the others, or make a new one: saltern controller invite NAME",
            )
        bundle = _open_bundle(found, token)
        _write(paths, bundle)  # before the invitation is removed: it can be used again after a crash
        remove_invitation(connection, token.id)
        member = Addresses(paths, settings, bundle.file).member()
        set_member(connection, token.name, replace(member, started=False, certificate=bundle.certificate))
        audit.append(connection, f"controller {token.name}", "controller.join", {"name": token.name}, now)
    return token.name


def _open_bundle(found: Invitation, token: ControllerToken) -> Bundle:
    try:
        return msgspec.msgpack.decode(
            open_seal(found.sealed, SealingKey(token.secret), _seal_purpose(token)), type=Bundle
        )
    except (SealBroken, msgspec.DecodeError):
        raise _bad("the token does not open its invitation", "copy the whole token") from None


def _write(paths: ControllerPaths, bundle: Bundle) -> None:
    for name in FILES:
        target = os.path.join(paths.state, name)
        make_private(os.path.dirname(target))
        write(target, bundle.files[name], OWNER_ONLY)
    save_member(paths.keys, bundle.file, SigningKey(bundle.seed), bundle.certificate)


def _seal_purpose(token: ControllerToken) -> SealedFor:
    return SealedFor(fleet=token.fleet, system=token.name, purpose=f"controller {token.id}")


def _read_required(path: str) -> bytes:
    data = read(path)
    if data is None:
        raise _bad(f"{path} is missing", "start the controller once, so that it makes its keys")
    return data


def write_controller_token(token: ControllerToken) -> str:
    data = msgspec.msgpack.encode(token)
    data += zlib.crc32(data).to_bytes(4, "big")
    return PREFIX + base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def read_controller_token(text: str) -> ControllerToken:
    word = "".join(text.split())
    rest = word.removeprefix(PREFIX)
    try:
        data = base64.urlsafe_b64decode(rest + "=" * (-len(rest) % 4))
        if word == rest or zlib.crc32(data[:-4]).to_bytes(4, "big") != data[-4:]:
            raise ValueError
        return msgspec.msgpack.decode(data[:-4], type=ControllerToken)
    except (ValueError, msgspec.DecodeError):
        fix = f"copy the whole token: it is one word that begins with {PREFIX}"
        raise _bad("this is not the token of an invitation, or it is incomplete", fix) from None


def _bad(what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="controller-join", what=what, fix=fix))
