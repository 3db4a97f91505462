"""``salt.utils.network``: addresses and names."""

# ruff: noqa: F401 - exported under Salt's names

from __future__ import annotations

from typing import Any

from saltern.render.filters.addresses import (
    filter_by_networks,
    ip_host,
    ipaddr,
    ipv4,
    ipv6,
    ipwrap,
    is_ip,
    is_ipv4,
    is_ipv6,
    network_hosts,
    network_size,
)


def _network(value: Any, version: int | None = None) -> Any:
    import ipaddress

    try:
        found = ipaddress.ip_network(str(value), strict=False) if "/" in str(value) else None
    except ValueError:
        return None
    return found if found is not None and version in (None, found.version) else None


def is_subnet(cidr: Any) -> bool:
    return _network(cidr) is not None


def is_ipv4_subnet(cidr: Any) -> bool:
    return _network(cidr, 4) is not None


def is_ipv6_subnet(cidr: Any) -> bool:
    return _network(cidr, 6) is not None


def is_loopback(ip_addr: Any) -> bool:
    import ipaddress

    try:
        return ipaddress.ip_address(str(ip_addr)).is_loopback
    except ValueError:
        return False


def calc_net(address: Any, netmask: Any = None) -> str:
    import ipaddress

    return str(ipaddress.ip_network(f"{address}/{netmask}" if netmask else str(address), strict=False))


def in_subnet(cidr: Any, addr: Any) -> bool:
    import ipaddress

    network = _network(cidr)
    addresses = addr if isinstance(addr, list | tuple) else [addr]
    return network is not None and any(ipaddress.ip_address(one) in network for one in addresses)


def host_to_ips(host: str) -> list[str] | None:
    import socket

    try:
        found = socket.getaddrinfo(host, 0, socket.AF_UNSPEC, socket.SOCK_STREAM)
    except OSError:
        return None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found)) or None


def get_fqhostname() -> str:
    import socket

    return socket.getfqdn()


def sanitize_host(host: str) -> str:
    return "".join(letter for letter in str(host) if letter.isalnum() or letter in "._-")


def isportopen(host: str, port: Any) -> int | bool:
    import socket

    if not 1 <= int(port) <= 65535:
        return False
    with socket.socket() as tried:
        tried.settimeout(10)
        return tried.connect_ex((sanitize_host(host), int(port)))
