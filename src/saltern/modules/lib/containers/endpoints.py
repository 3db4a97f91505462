"""How a container is connected to networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from saltern.modules.api.converge import Changes
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers.engine import Seen
from saltern.modules.lib.containers.values import address, items, texts

NO_NETWORKS = ("host", "none")  # modes that leave nothing to connect
AUTOMATIC = "automatic"
KEYS = ("ipv4_address", "ipv6_address", "link_local_ips", "aliases", "links")


class Endpoint(Struct, frozen=True, kw_only=True):
    """The chosen settings of a container's connection to a network."""

    ipv4_address: str = ""
    ipv6_address: str = ""
    link_local_ips: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    def ipam(self) -> dict[str, Any]:
        given = {
            "IPv4Address": self.ipv4_address,
            "IPv6Address": self.ipv6_address,
            "LinkLocalIPs": list(self.link_local_ips),
        }
        return {key: value for key, value in given.items() if value}

    def body(self) -> dict[str, Any]:
        """The endpoint in the form of the engine's API."""
        given = {"IPAMConfig": self.ipam(), "Aliases": list(self.aliases), "Links": list(self.links)}
        return {key: value for key, value in given.items() if value}


Endpoints = dict[str, Endpoint]


def read(value: object, *, validate: bool = True) -> Endpoints:
    """The endpoints from ``[net1, {net2: [{aliases: [a]}, {ipv4_address: 10.0.0.7}]}]``, a mapping, or a
    text.
    """
    found: Endpoints = {}
    for one in items(value):
        if isinstance(one, Mapping):
            found |= {str(name): _endpoint(str(name), given, validate) for name, given in one.items()}
        else:
            found[str(one)] = Endpoint()
    return found


def _endpoint(network: str, value: object, validate: bool) -> Endpoint:
    listed = value if isinstance(value, list) else [value or {}]
    rows = [row for row in listed if isinstance(row, Mapping)]
    if len(rows) != len(listed):
        raise Refused(f"network {network!r} needs a mapping of {', '.join(KEYS)}; got {value!r}")
    given = {str(key): inner for row in rows for key, inner in row.items()}
    unknown = [key for key in given if key not in KEYS]
    empty = [key for key, inner in given.items() if inner is None]
    if unknown or empty:
        what = f"has no setting {unknown[0]!r}" if unknown else f"needs a value for {empty[0]!r}"
        raise Refused(f"network {network!r} {what}; it takes {', '.join(KEYS)}")
    for key in ("ipv4_address", "ipv6_address"):
        if key in given and validate:
            address(str(given[key]))
    several = {key: tuple(texts(given[key])) for key in KEYS[2:] if key in given}
    return Endpoint(**{key: str(given[key]) for key in KEYS[:2] if key in given}, **several)  # type: ignore[arg-type]


def connected_networks(seen: Seen) -> Mapping[str, Seen]:
    """The networks of a container."""
    found: dict[str, Seen] = (seen.get("NetworkSettings") or {}).get("Networks") or {}
    return {name: one for name, one in found.items() if name not in NO_NETWORKS}


def differences(wanted: Endpoints, seen: Seen) -> dict[str, Changes]:
    """``{network: {IPAMConfig: {old, new}}}``; values chosen by the engine are ``automatic``."""
    now = connected_networks(seen)
    own = str(seen.get("Id", ""))[:12]
    found = {name: _difference(wanted.get(name), now.get(name), own) for name in (*wanted, *now)}
    return {name: one for name, one in found.items() if one}


def _difference(wanted: Endpoint | None, seen: Seen | None, own: str) -> Changes:
    old, new = _reported_row(seen, own), _desired_row(wanted)
    return {
        key: {"old": old.get(key), "new": new.get(key)}
        for key in {**old, **new}
        if old.get(key) != new.get(key)
    }


def _reported_row(seen: Seen | None, own: str) -> dict[str, Any]:
    if seen is None:
        return {}
    ipam = {key: value for key, value in (seen.get("IPAMConfig") or {}).items() if value}
    aliases = sorted(one for one in seen.get("Aliases") or () if one != own)
    return _row(ipam, aliases, sorted(seen.get("Links") or ()))


def _desired_row(endpoint: Endpoint | None) -> dict[str, Any]:
    if endpoint is None:
        return {}
    return _row(endpoint.ipam(), sorted(endpoint.aliases), sorted(endpoint.links))


def _row(ipam: dict[str, Any], aliases: list[str], links: list[str]) -> dict[str, Any]:
    row: dict[str, Any] = {"IPAMConfig": ipam} if ipam else {"IPConfiguration": AUTOMATIC}
    row |= {"Aliases": aliases} if aliases else {}
    return row | ({"Links": links} if links else {})
