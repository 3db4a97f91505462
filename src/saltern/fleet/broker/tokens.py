"""Makes join tokens: the token for the machine, and the record that the controller keeps."""

from __future__ import annotations

from msgspec import Struct

from saltern.fleet.broker.authority import Authority
from saltern.fleet.identity.mint import check_site
from saltern.fleet.identity.token import JoinToken, TokenRecord, joiner_key, new_secret, proof_key


class TokenPlace(Struct, frozen=True, kw_only=True):
    """What all tokens of a fleet share: the addresses of its brokers, and whom to trust."""

    servers: tuple[str, ...]
    ca: bytes
    roots: tuple[bytes, ...]


def new_token(
    authority: Authority, place: TokenPlace, *, now: float, life: float, uses: int = 1, site: str = ""
) -> tuple[JoinToken, TokenRecord]:
    """A token for ``uses`` machines, valid until it expires."""
    if site:
        check_site(site)
    id, secret = new_secret()
    expires = now + life
    token = JoinToken(
        fleet=authority.fleet,
        servers=place.servers,
        ca=place.ca,
        roots=place.roots,
        account=authority.account_name,
        issuer=authority.agent_issuer,
        id=id,
        secret=secret,
        credential=authority.mint.joiner(id, joiner_key(secret).public, now=now, expires=expires),
        expires=expires,
    )
    return token, TokenRecord(id=id, key=proof_key(secret), expires=expires, uses=uses, site=site)
