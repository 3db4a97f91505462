"""Networks of an engine: their specification, and the differences of an existing one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from saltern.modules.api.converge import Changes
from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import values
from saltern.modules.lib.containers.driver_secrets import hide_passwords
from saltern.modules.lib.containers.engine import Seen

if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Network

POOL = {
    "subnet": "Subnet",
    "iprange": "IPRange",
    "ip_range": "IPRange",
    "gateway": "Gateway",
    "aux_addresses": "AuxiliaryAddresses",
    "aux_address": "AuxiliaryAddresses",
}
# Options that engines add to a network themselves.
THEIRS = ("com.docker.network.driver.overlay.", "com.docker.network.enable_ipv")
FLAGS = ("Internal", "EnableIPv6", "Attachable", "Ingress")


class DesiredNetwork(Struct, frozen=True, kw_only=True):
    """The specification of a network, in the form of the engine's API."""

    name: str
    driver: str = "bridge"
    options: dict[str, str] = {}
    labels: dict[str, str] = {}
    flags: dict[str, bool] = {}
    scope: str = ""
    ipam: dict[str, Any] = {}
    check_duplicate: bool = True

    def body(self) -> dict[str, Any]:
        made = {
            "Name": self.name,
            "CheckDuplicate": self.check_duplicate,
            "Driver": self.driver,
            "Options": self.options,
            "Labels": self.labels,
            **self.flags,
        }
        made |= {"IPAM": self.ipam} if self.ipam else {}
        return made | ({"Scope": self.scope} if self.scope else {})


def pool(given: Mapping[str, object], *, validate: bool) -> dict[str, Any]:
    """``{subnet: 10.0.0.0/24, gateway: 10.0.0.1}`` in the form of the engine's API."""
    unknown = [key for key in given if key not in POOL]
    if unknown or not given.get("subnet"):
        what = f"has no {unknown[0]!r}" if unknown else "needs a subnet"
        raise Refused(f"a pool of addresses {what}; it takes subnet, iprange, gateway and aux_addresses")
    found: dict[str, Any] = {POOL[key]: value for key, value in given.items() if value is not None}
    if "AuxiliaryAddresses" in found:
        found["AuxiliaryAddresses"] = values.settings(found["AuxiliaryAddresses"])
    if validate:
        _validate(found)
    return found


def _validate(found: Mapping[str, Any]) -> None:
    whole = subnet(found["Subnet"])
    taken = [found.get("Gateway"), *found.get("AuxiliaryAddresses", {}).values()]
    for one in taken:
        if one and not inside(str(one), [whole]):
            raise Refused(f"{one} is not in the subnet {whole}")
    part = subnet(found.get("IPRange", whole))
    if part.version != whole.version or not part.subnet_of(whole):  # type: ignore[arg-type]
        raise Refused(f"the iprange {part} is not in the subnet {whole}")


def subnet(text: object) -> IPv4Network | IPv6Network:
    from ipaddress import ip_network

    try:
        return ip_network(str(text))
    except ValueError as problem:
        raise Refused(f"needs a subnet such as 10.0.0.0/24: {problem}") from None


def inside(address: str, subnets: list[IPv4Network | IPv6Network]) -> bool:
    from ipaddress import ip_address

    return any(ip_address(values.address(address)) in one for one in subnets)


def ipam(pools: list[dict[str, Any]], driver: str | None, options: dict[str, str] | None) -> dict[str, Any]:
    """The engine's IPAM settings; empty if it may choose."""
    versions = [subnet(one["Subnet"]).version for one in pools]
    if len(set(versions)) != len(versions):
        raise Refused("only one pool of IPv4 and one of IPv6 addresses can be given")
    found: dict[str, Any] = {"Driver": driver or "default", "Options": options, "Config": pools}
    return {key: value for key, value in found.items() if value} if pools or driver or options else {}


def differences(want: DesiredNetwork, seen: Seen) -> Changes:
    """``{Driver: {old, new}}``; settings that are not given must be the engine's defaults."""
    rows: dict[str, tuple[Any, Any]] = {
        "Driver": (seen.get("Driver"), want.driver),
        "Options": (hide_passwords(_own(seen.get("Options"))), hide_passwords(want.options)),
        "Labels": (seen.get("Labels") or {}, want.labels),
        **{flag: (bool(seen.get(flag)), want.flags.get(flag, False)) for flag in FLAGS},
    }
    if want.scope:
        rows["Scope"] = (seen.get("Scope"), want.scope)
    hidden = _own(seen.get("Options")) != want.options
    found: Changes = {
        key: {"old": old, "new": new}
        for key, (old, new) in rows.items()
        if old != new or (key == "Options" and hidden)
    }
    pools = _ipam_differences(want.ipam, seen.get("IPAM") or {})
    return found | ({"IPAM": pools} if pools else {})


def _own(options: Mapping[str, str] | None) -> dict[str, str]:
    return {name: value for name, value in (options or {}).items() if not name.startswith(THEIRS)}


def _ipam_differences(wanted: Mapping[str, Any], seen: Mapping[str, Any]) -> Changes:
    rows = {
        "Driver": (seen.get("Driver") or "default", wanted.get("Driver", "default")),
        "Options": (seen.get("Options") or {}, wanted.get("Options", {})),
        "Config": _pools(wanted.get("Config", []), seen.get("Config") or []),
    }
    return {key: {"old": old, "new": new} for key, (old, new) in rows.items() if old != new}


def _pools(wanted: list[dict[str, Any]], seen: list[dict[str, Any]]) -> tuple[Any, Any]:
    """The wanted and the existing pools, sorted. Without a gateway or pools, the engine's choice is
    accepted.
    """
    now = [{key: value for key, value in one.items() if value} for one in seen]
    if not wanted and all(one.keys() <= {"Subnet", "Gateway"} for one in now):
        return [], []
    chosen = {one["Subnet"] for one in wanted if "Gateway" in one}
    now = [one if one.get("Subnet") in chosen else {**one, "Gateway": None} for one in now]
    reported = [{key: value for key, value in one.items() if value is not None} for one in now]
    return _sort_pools(reported), _sort_pools(wanted)


def _sort_pools(pools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(pools, key=lambda one: str(one.get("Subnet")))
