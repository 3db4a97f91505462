"""The only code that makes credentials. Every name that gets into a permission template is checked here.

The broker puts the name of a credential into the template of its role. The name ``*`` would give rights to
everything; so names are encoded ids or names of the protocol, and nothing else.
"""

from __future__ import annotations

import re

from msgspec import Struct

from saltern.fleet.identity.jwt import UserClaims, decode_user, encode
from saltern.fleet.identity.nkeys import Holder, public_text
from saltern.fleet.protocol.ids import BadId, encode_id, encode_token, is_own_name, is_token
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.subjects import Role

DAY = 86_400.0
LIFE = 7 * DAY  # of an agent's credential; revocations older than that can be forgotten
SPARE_LIFE = 1825 * DAY  # of the credential with which an agent that was away too long asks for a new one
_SITE = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


class Mint(Struct, frozen=True, kw_only=True):
    """The account of the fleet, and one signing key for each role. A key can make credentials of its role
    only.
    """

    account: str
    keys: dict[Role, SigningKey]

    def agent(self, id: str, key: bytes, *, now: float, life: float = LIFE, site: str = "") -> str:
        """The credential of the agent with this id and this public key."""
        tags = [f"site:{check_site(site)}"] if site else []
        return self._user(Role.AGENT, encode_id(id), key, now=now, expires=now + life, tags=tags)

    def joiner(self, token: str, key: bytes, *, now: float, expires: float) -> str:
        """A credential that can ask to join, and nothing else."""
        return self._user(Role.JOINER, joiner_name(token), key, now=now, expires=expires)

    def spare(self, key: bytes, *, now: float) -> str:
        """A credential for an agent's own key that can ask to join, and nothing else. The agent uses it when
        its other credential has expired.
        """
        return self._user(Role.JOINER, spare_name(key), key, now=now, expires=now + SPARE_LIFE)

    def controller(self, name: str, key: bytes, *, now: float, life: float = LIFE) -> str:
        return self._user(Role.CONTROLLER, controller_name(name), key, now=now, expires=now + life)

    def _user(
        self,
        role: Role,
        name: str,
        key: bytes,
        *,
        now: float,
        expires: float,
        tags: list[str] | None = None,
    ) -> str:
        if not (is_token(name) if role is Role.AGENT else is_own_name(name)):
            raise BadId(f"{name!r} cannot be the name of a credential")
        rights = {"type": "user", "version": 2, "issuer_account": self.account, "tags": tags or []}
        claims = {
            "name": name,
            "sub": public_text(key, Holder.USER),
            "exp": int(expires),
            "nats": rights,
        }
        return encode(claims, self.keys[role], Holder.ACCOUNT, now=now)


def controller_name(name: str) -> str:
    return f"_ctl-{encode_token(name)}"


def joiner_name(token: str) -> str:
    return f"_join-{encode_token(token)}"


def spare_name(key: bytes) -> str:
    return joiner_name(public_text(key, Holder.USER))


def check_site(site: str) -> str:
    """The name of a site, which must be in lower case because the broker compares tags in lower case."""
    if _SITE.fullmatch(site) is None:
        raise BadId(f"{site!r} cannot be the name of a site: lower case letters, digits and '-'")
    return site


def renew_in(jwt: str, now: float, chance: float) -> float:
    """Seconds until the credential should be renewed: at half its life, up to a tenth earlier or later at
    random.
    """
    claims = decode_user(jwt)
    return max(0.0, half_life(claims, chance) - now)


def half_life(claims: UserClaims, chance: float) -> float:
    life = claims.exp - claims.iat
    return claims.iat + life * (0.45 + 0.1 * chance)
