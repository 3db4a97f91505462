"""Filters on IP addresses and networks as text.

``options`` is a list of words such as ``private,loopback``; an address must have all of these
properties. Unknown words are ignored, as in Salt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface

    Address = IPv4Address | IPv6Address | IPv4Interface | IPv6Interface

MOST_HOSTS = 1 << 20

_PROPERTIES: dict[str, Callable[[Address], bool]] = {
    **dict.fromkeys(("global", "public"), lambda ip: not ip.is_private),
    "private": lambda ip: ip.is_private,
    "multicast": lambda ip: ip.is_multicast,
    "reserved": lambda ip: ip.is_reserved,
    "unspecified": lambda ip: ip.is_unspecified,
    **dict.fromkeys(("loopback", "lo"), lambda ip: ip.is_loopback),
    **dict.fromkeys(("link-local", "link_local", "ll"), lambda ip: ip.is_link_local),
    **dict.fromkeys(("site-local", "site_local", "sl"), lambda ip: getattr(ip, "is_site_local", False)),
}


def _parse_address(value: Any, version: int | None, options: str | None) -> Address | None:
    """The address, with or without prefix, if it has that version and the properties; else None."""
    import ipaddress

    for read in (ipaddress.ip_address, ipaddress.ip_interface):
        try:
            found: Address = read(value)
        except (ValueError, TypeError):
            continue
        return found if version in (None, found.version) and _has(found, options) else None
    return None


def _has(address: Address, options: str | None) -> bool:
    wanted = [word.strip() for word in (options or "").split(",")]
    return all(_PROPERTIES[word](address) for word in wanted if word in _PROPERTIES)


def is_ip(ip_addr: object, options: str | None = None) -> bool:
    return _parse_address(ip_addr, None, options) is not None


def is_ipv4(ip_addr: object, options: str | None = None) -> bool:
    return _parse_address(ip_addr, 4, options) is not None


def is_ipv6(ip_addr: object, options: str | None = None) -> bool:
    return _parse_address(ip_addr, 6, options) is not None


def _each(
    value: object, answer: Callable[[Address], object], version: int | None, options: str | None
) -> object:
    """The result for one address, None if it is not one; for a list, the results of its addresses."""
    if isinstance(value, list | tuple | set | frozenset):
        found = [_parse_address(item, version, options) for item in value if isinstance(item, str)]
        return [answer(address) for address in found if address is not None]
    one = _parse_address(value, version, options) if isinstance(value, str) else None
    return None if one is None else answer(one)


def ipaddr(value: Any, options: str | None = None) -> Any:
    """The value if it is an address, else None; for a list, its addresses, version 4 first."""
    if isinstance(value, list | tuple | set | frozenset):
        return [*ipv4(value, options), *ipv6(value, options)]
    return _each(value, str, None, options)


def ipv4(value: object, options: str | None = None) -> Any:
    return _each(value, str, 4, options)


def ipv6(value: object, options: str | None = None) -> Any:
    return _each(value, str, 6, options)


def ip_host(value: object, options: str | None = None, version: int | None = None) -> object:
    """The address with its prefix length: ``192.168.0.12/24``."""
    from ipaddress import ip_interface

    return _each(value, lambda address: str(ip_interface(address)), version, options)


def network_hosts(value: object, options: str | None = None, version: int | None = None) -> object:
    """The addresses available to hosts of this network."""
    return _each(value, _hosts, version, options)


def _hosts(address: Address) -> list[str]:
    from ipaddress import ip_network

    network = ip_network(address, strict=False) if not hasattr(address, "network") else address.network
    if network.num_addresses > MOST_HOSTS:
        raise OverflowError(
            f"{network} has {network.num_addresses} addresses; network_hosts lists up to {MOST_HOSTS}"
        )
    return [str(host) for host in network.hosts()]


def network_size(value: object, options: str | None = None, version: int | None = None) -> object:
    """The number of addresses of the network, including those of network and broadcast."""
    return _each(value, lambda address: 1 << (address.max_prefixlen - _prefix(address)), version, options)


def _prefix(address: Address) -> int:
    return address.network.prefixlen if hasattr(address, "network") else address.max_prefixlen


def filter_by_networks(values: Any, networks: Any) -> Any:
    """The addresses that are in one of the networks; for a mapping, in the lists under its keys."""
    import ipaddress

    if networks is None:
        return values
    known = [
        ipaddress.ip_network(network) for network in ([networks] if isinstance(networks, str) else networks)
    ]

    def inside(addresses: Any) -> list[Any]:
        return [one for one in addresses if any(ipaddress.ip_address(one) in network for network in known)]

    if isinstance(values, Mapping):
        return {key: inside(addresses) for key, addresses in values.items()}
    if isinstance(values, list | tuple | set | frozenset):
        return inside(values)
    raise TypeError(f"needs a list of addresses or a mapping of such lists, not {type(values).__name__}")


def ipwrap(data: object) -> object:
    """IPv6 addresses in brackets, as in URLs; everything else unchanged."""
    if isinstance(data, list | tuple | set | frozenset):
        return [ipwrap(item) for item in data]
    wrap = isinstance(data, str) and "/" not in data and is_ipv6(data)
    return f"[{data}]" if wrap else data
