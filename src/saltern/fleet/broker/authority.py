"""The authority of a fleet over its broker: operator, accounts, and one signing key for each role.

The rights of a role are in the account's JWT, once, as a template; a credential holds only a name. So one
push changes the rights of all agents, and a stolen signing key of agents can make agents, but never
controllers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from saltern.fleet.identity.jwt import UNLIMITED, encode
from saltern.fleet.identity.keys import OWNER_ONLY, check_private
from saltern.fleet.identity.membership import KeyCredential
from saltern.fleet.identity.mint import Mint
from saltern.fleet.identity.nkeys import BadKey, Holder, public_text, read_seed, seed_text
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.subjects import Role, grants, inbox_of
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.files import read, write
from saltern.system.private import make_private

FILE = "authority.json"
SYSTEM_NAME = "_sys"
DAY = 86_400.0
# Subscriptions and bytes of one message that a connection of each role may have.
LIMITS: dict[Role, tuple[int, int]] = {
    Role.AGENT: (64, 1 << 20),
    Role.CONTROLLER: (UNLIMITED, 1 << 20),
    Role.JOINER: (8, 128 << 10),
}
_SYSTEM_RIGHTS = {
    "pub": {"allow": ["$SYS.REQ.CLAIMS.UPDATE", "$SYS.REQ.SERVER.PING.>", "$JS.API.SERVER.REMOVE"]},
    "sub": {
        "allow": [
            f"{inbox_of(SYSTEM_NAME)}.>",
            "$SYS.ACCOUNT.*.CONNECT",
            "$SYS.ACCOUNT.*.DISCONNECT",
            "$SYS.SERVER.*.CLIENT.AUTH.ERR",
        ]
    },
}


class Authority(Struct, frozen=True, kw_only=True):
    """The private keys behind all credentials of one fleet."""

    fleet: str
    operator: SigningKey
    system: SigningKey
    account: SigningKey
    signing: Mapping[Role, SigningKey]

    @property
    def account_name(self) -> str:
        return public_text(self.account.public, Holder.ACCOUNT)

    @property
    def system_name(self) -> str:
        return public_text(self.system.public, Holder.ACCOUNT)

    @property
    def agent_issuer(self) -> str:
        return public_text(self.signing[Role.AGENT].public, Holder.ACCOUNT)

    @property
    def mint(self) -> Mint:
        return Mint(account=self.account_name, keys=dict(self.signing))

    def operator_jwt(self, now: float) -> str:
        nats = {"type": "operator", "version": 2, "system_account": self.system_name}
        subject = public_text(self.operator.public, Holder.OPERATOR)
        claims = {"name": f"saltern {self.fleet}", "sub": subject, "nats": nats}
        return encode(claims, self.operator, Holder.OPERATOR, now=now)

    def system_jwt(self, now: float) -> str:
        return self._account(self.system, "SYSTEM", {"limits": _limits(streams=False)}, now)

    def account_jwt(self, now: float, revoked: Mapping[str, int]) -> str:
        """The JWT of the fleet's account: the rights of each role, and the revoked keys."""
        nats: dict[str, Any] = {
            "limits": _limits(streams=True),
            "signing_keys": [self._scope(role) for role in Role],
            # A credential that was not signed with the key of a role has no rights.
            "default_permissions": {"pub": {"deny": [">"]}, "sub": {"deny": [">"]}},
        }
        if revoked:
            nats["revocations"] = dict(revoked)
        return self._account(self.account, "FLEET", nats, now)

    def _account(self, key: SigningKey, name: str, nats: dict[str, Any], now: float) -> str:
        claims = {
            "name": name,
            "sub": public_text(key.public, Holder.ACCOUNT),
            "nats": {"type": "account", "version": 2, **nats},
        }
        return encode(claims, self.operator, Holder.OPERATOR, now=now)

    def _scope(self, role: Role) -> dict[str, Any]:
        rights = grants(role)
        subscriptions, payload = LIMITS[role]
        return {
            "kind": "user_scope",
            "key": public_text(self.signing[role].public, Holder.ACCOUNT),
            "role": role.value,
            "template": {
                "pub": {"allow": list(rights.publish)},
                "sub": {"allow": list(rights.subscribe)},
                "subs": subscriptions,
                "data": UNLIMITED,
                "payload": payload,
            },
        }

    def system_credential(self, now: float, life: float = DAY) -> KeyCredential:
        """For the controller alone: to push claims, to query the broker, and to drop a broker that
        is gone.
        """
        key = SigningKey.new()
        rights = {
            "type": "user",
            "version": 2,
            **_SYSTEM_RIGHTS,
            "subs": UNLIMITED,
            "data": UNLIMITED,
            "payload": UNLIMITED,
        }
        claims = {
            "name": SYSTEM_NAME,
            "sub": public_text(key.public, Holder.USER),
            "exp": int(now + life),
            "nats": rights,
        }
        return KeyCredential(encode(claims, self.system, Holder.ACCOUNT, now=now), key)


def _limits(*, streams: bool) -> dict[str, int | bool]:
    common: dict[str, int | bool] = {
        "subs": UNLIMITED,
        "data": UNLIMITED,
        "payload": UNLIMITED,
        "imports": 0,
        "exports": 0,
        "wildcards": True,
        "conn": UNLIMITED,
        "leaf": UNLIMITED,
    }
    store: dict[str, int | bool] = {
        "mem_storage": 0,
        "disk_storage": UNLIMITED,
        "streams": 32,
        "consumer": 1024,
    }
    return {**common, **store} if streams else common


def new_authority(fleet: str) -> Authority:
    return Authority(
        fleet=fleet,
        operator=SigningKey.new(),
        system=SigningKey.new(),
        account=SigningKey.new(),
        signing={role: SigningKey.new() for role in Role},
    )


def load_or_make_authority(folder: str, fleet: str) -> Authority:
    path = os.path.join(folder, FILE)
    if os.path.lexists(path):
        return load_authority(folder)
    authority = new_authority(fleet)
    make_private(folder)
    save_authority(folder, authority)
    return authority


def save_authority(folder: str, authority: Authority) -> None:
    data = {
        "v": 1,
        "fleet": authority.fleet,
        "operator": seed_text(authority.operator, Holder.OPERATOR),
        "system": seed_text(authority.system, Holder.ACCOUNT),
        "account": seed_text(authority.account, Holder.ACCOUNT),
        "signing": {role.value: seed_text(key, Holder.ACCOUNT) for role, key in authority.signing.items()},
    }
    write(os.path.join(folder, FILE), msgspec.json.format(msgspec.json.encode(data)) + b"\n", OWNER_ONLY)


def load_authority(folder: str) -> Authority:
    path = os.path.join(folder, FILE)
    check_private(path)
    try:
        data = msgspec.json.decode(read(path) or b"")
        return Authority(
            fleet=data["fleet"],
            operator=read_seed(data["operator"], Holder.OPERATOR),
            system=read_seed(data["system"], Holder.ACCOUNT),
            account=read_seed(data["account"], Holder.ACCOUNT),
            signing={role: read_seed(data["signing"][role.value], Holder.ACCOUNT) for role in Role},
        )
    except (msgspec.DecodeError, KeyError, TypeError, BadKey):
        what = f"the keys of the broker in {path} are damaged"
        fix = "restore the file from a backup: without it no agent can get a credential"
        raise OperationError(Diagnostic(code="fleet-authority-damaged", what=what, fix=fix)) from None
