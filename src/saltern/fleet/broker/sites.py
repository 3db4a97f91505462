"""Sites: places with their own broker, to which the local agents connect, and one link to the fleet.

A controller keeps its sites in a file beside its broker. A site needs a *kit*: a file that is made on the
controller and copied to the machine that runs the site's broker.
"""

from __future__ import annotations

import os

import msgspec
from msgspec import Struct

from saltern.fleet.broker.authority import Authority
from saltern.fleet.broker.tls import CertificateFiles, new_pair
from saltern.fleet.identity.jwt import UNLIMITED, encode
from saltern.fleet.identity.keys import OWNER_ONLY
from saltern.fleet.identity.mint import check_site
from saltern.fleet.identity.nkeys import Holder, public_text, seed_text
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.subjects import SUBJECTS, Role, grants, inbox_of
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.files import read, write

FILE = "sites.json"
LINK_LIFE = 3650 * 86_400.0
NAMED, TAGGED = "{{name()}}", "{{tag(site)}}"
# What the broker of a site reports about its clients, and what it must receive: keys that were revoked.
SYSTEM_SENDS = ("$SYS.ACCOUNT.*.CONNECT", "$SYS.ACCOUNT.*.DISCONNECT", "$SYS.SERVER.*.CLIENT.AUTH.ERR")
SYSTEM_HEARS = ("$SYS.REQ.CLAIMS.UPDATE", "$SYS.REQ.ACCOUNT.*.CLAIMS.UPDATE", "$SYS.ACCOUNT.CLAIMS.PACK")
ONE_REPLY = {"max": 1, "ttl": 120_000_000_000}  # to what it was asked, and nowhere else
ANSWERS = ("_INBOX.>", "$SYS._INBOX.>")


class Site(Struct, frozen=True):
    """The addresses at which agents reach the broker of a site: ``host:port``."""

    addresses: tuple[str, ...]


class Sites(Struct, frozen=True, kw_only=True):
    """All sites of a fleet, and the port at which this controller's broker takes their links."""

    port: int
    sites: dict[str, Site] = {}


class Kit(Struct, frozen=True, kw_only=True):
    """All that the broker of a site needs. It contains private keys: keep it secret."""

    v: int = 1
    fleet: str
    site: str
    host: str
    port: int
    hub: tuple[str, ...]
    operator: str
    system_account: str
    account: str
    accounts: dict[str, str]
    link: str
    system_link: str
    ca: str
    certificate: str
    key: str
    own: str = ""  # the credential with which the site asks for its next certificate


def own_name(site: str) -> str:
    """The name of a site's own credential; no system can have it."""
    return f"_site-{site}"


def read_sites(folder: str) -> Sites | None:
    """The sites that the folder of a broker lists; None if the fleet never had a site."""
    data = read(os.path.join(folder, FILE))
    return msgspec.json.decode(data, type=Sites) if data else None


def write_sites(folder: str, sites: Sites) -> None:
    write(os.path.join(folder, FILE), msgspec.json.encode(sites), OWNER_ONLY)


def servers_of(folder: str, site: str) -> tuple[str, ...]:
    """The addresses for agents of a site; empty if the site has no broker of its own."""
    known = read_sites(folder)
    found = known.sites.get(site) if known is not None else None
    return tuple(f"tls://{one}" for one in found.addresses) if found is not None else ()


def make_kit(
    authority: Authority,
    tls: CertificateFiles,
    name: str,
    addresses: tuple[str, ...],
    hub: tuple[str, ...],
    *,
    revoked: dict[str, int],
    now: float,
) -> Kit:
    """The kit of a site whose broker has these addresses and reaches the fleet at ``hub``."""
    hosts = tuple(dict.fromkeys(split_address(one)[0] for one in addresses))
    certificate, key = new_pair(tls, hosts, now)
    return Kit(
        fleet=authority.fleet,
        site=check_site(name),
        host=hosts[0],
        port=split_address(addresses[0])[1],
        hub=hub,
        operator=authority.operator_jwt(now),
        system_account=authority.system_name,
        account=authority.account_name,
        accounts={
            authority.system_name: authority.system_jwt(now),
            authority.account_name: authority.account_jwt(now, revoked),
        },
        link=_credentials(authority.account, own_name(name), link_rights(name), now),
        system_link=_credentials(authority.system, own_name(name), (SYSTEM_SENDS, SYSTEM_HEARS), now),
        ca=(read(tls.ca) or b"").decode(),
        certificate=certificate,
        key=key,
        own=_credentials(authority.account, own_name(name), own_rights(name), now, connects="STANDARD"),
    )


def split_address(address: str) -> tuple[str, int]:
    """Host and port of ``host:port``. Raises ``OperationError``."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65_536:
        what = f"{address!r} is not the address of a broker"
        raise OperationError(Diagnostic(code="site-address", what=what, fix="give HOST:PORT"))
    return host.strip("[]"), int(port)


def link_rights(site: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The subjects that may pass a link: those of agents, and the jobs for this site."""
    agent, joiner = grants(Role.AGENT), grants(Role.JOINER)
    stays = SUBJECTS["site-blob"].permission(Role.AGENT)  # the site itself answers it
    sends = (_any(one, site) for one in (*agent.publish, *joiner.publish) if one != stays)
    hears = (_any(one, site) for one in (*agent.subscribe, *joiner.subscribe))
    return tuple(dict.fromkeys((*sends, *own_rights(site)[0]))), tuple(dict.fromkeys(hears))


def own_rights(site: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The subjects that a site itself may use: it asks for its certificate, and gives its agents files."""
    sends = (SUBJECTS["site-certificate"].of(site=site), SUBJECTS["blob-read"].wild())
    return sends, (f"{inbox_of(own_name(site))}.>", SUBJECTS["site-blob"].wild())


def _any(permission: str, site: str) -> str:
    return permission.replace(NAMED, "*").replace(TAGGED, site)


def _credentials(
    account: SigningKey,
    name: str,
    rights: tuple[tuple[str, ...], tuple[str, ...]],
    now: float,
    *,
    connects: str = "LEAFNODE",
) -> str:
    """The file of a credential for a broker's link, with which no client can connect; or one for a client,
    with which no broker can link.
    """
    key, (sends, hears) = SigningKey.new(), rights
    answers, replies = (ANSWERS, {}) if connects == "LEAFNODE" else ((), {"resp": ONE_REPLY})
    nats = {
        "type": "user",
        "version": 2,
        "pub": {"allow": [*sends, *answers]},
        "sub": {"allow": [*hears, *answers]},
        **replies,
        "subs": UNLIMITED,
        "data": UNLIMITED,
        "payload": UNLIMITED,
        "allowed_connection_types": [connects],
    }
    claims = {
        "name": name,
        "sub": public_text(key.public, Holder.USER),
        "exp": int(now + LINK_LIFE),
        "nats": nats,
    }
    return (
        f"-----BEGIN NATS USER JWT-----\n{encode(claims, account, Holder.ACCOUNT, now=now)}\n"
        "------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{seed_text(key, Holder.USER)}\n------END USER NKEY SEED------\n"
    )
