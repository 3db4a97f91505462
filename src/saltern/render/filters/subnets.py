"""Filters that calculate with networks: numbers, nth addresses, subnets and unions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Network

    Network = IPv4Network | IPv6Network


def ip_to_int(value: str) -> int:
    from ipaddress import ip_address

    return int(ip_address(value))


def int_to_ipv4(value: int | str) -> str:
    from ipaddress import IPv4Address

    return str(IPv4Address(int(value)))


def int_to_ipv6(value: int | str) -> str:
    from ipaddress import IPv6Address

    return str(IPv6Address(int(value)))


def _network(value: str) -> Network:
    from ipaddress import ip_network

    return ip_network(value, strict=False)


def nth_host(value: str, index: int) -> str:
    """The address at ``index``; 0 is the network's own, and -1 is the last."""
    network = _network(value)
    try:
        return str(network[int(index)])
    except IndexError:
        raise ValueError(f"{network} has only {network.num_addresses} addresses, none at {index}") from None


def network_subnets(value: str, prefixlen: int, index: int | None = None) -> int | str:
    """The number of subnets of that prefix length; with ``index``, the subnet at that index."""
    network, length = _network(value), int(prefixlen)
    if not network.prefixlen <= length <= network.max_prefixlen:
        raise ValueError(f"{network} cannot be split into networks of prefix length {length}")
    count = 1 << (length - network.prefixlen)
    if index is None:
        return count
    place = int(index) + (count if int(index) < 0 else 0)
    if not 0 <= place < count:
        raise ValueError(f"{network} has only {count} networks of prefix length {length}, none at {index}")
    first = int(network.network_address) + (place << (network.max_prefixlen - length))
    return str(type(network)((first, length)))


def cidr_merge(value: str | Iterable[str], action: str = "merge") -> list[str] | str | None:
    """The fewest networks that contain exactly these; with ``action='span'``, the smallest that contains
    all.
    """
    if action not in ("merge", "span"):
        raise ValueError(f"the action must be 'merge' or 'span', not {action!r}")
    networks = [_network(one) for one in ([value] if isinstance(value, str) else value)]
    return _spanning_network(networks) if action == "span" else _merge_networks(networks)


def _merge_networks(networks: list[Any]) -> list[str]:
    from ipaddress import collapse_addresses

    by_version = ([one for one in networks if one.version == version] for version in (4, 6))
    return [str(network) for group in by_version for network in collapse_addresses(group)]


def _spanning_network(networks: list[Any]) -> str | None:
    if len({network.version for network in networks}) > 1:
        raise ValueError("one network cannot span both IPv4 and IPv6 addresses")
    if not networks:
        return None
    span = networks[0]
    last = max(network.broadcast_address for network in networks)
    first = min(network.network_address for network in networks)
    while not (first in span and last in span):
        span = span.supernet()
    return str(span)


def cidr_to_ipv4_netmask(cidr_bits: int | str) -> str:
    """``24`` → ``255.255.255.0``; an empty text for anything that is not a prefix length, as in Salt."""
    from ipaddress import IPv4Network

    try:
        bits = int(cidr_bits)
        return str(IPv4Network((0, bits)).netmask) if 1 <= bits <= 32 else ""
    except (TypeError, ValueError):
        return ""


def slaac(value: str, mac: str) -> str:
    """The IPv6 address that a machine with this MAC address gives itself in a /64 (or larger) network."""
    from saltern.render.filters.hosts import mac_str_to_bytes

    network = _network(value)
    if network.version != 6 or network.prefixlen > 64:
        raise ValueError(f"needs an IPv6 network of prefix length 64 or less, not {network}")
    octets = mac_str_to_bytes(mac)
    identifier = bytes((octets[0] ^ 2, *octets[1:3], 0xFF, 0xFE, *octets[3:]))
    return str(network[int.from_bytes(identifier, "big")])
