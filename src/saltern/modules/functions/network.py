"""``network``: addresses and names of this machine."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from saltern.modules.api import function
from saltern.modules.context import Context
from saltern.modules.functions._data import each
from saltern.modules.functions._interfaces import Address, addresses
from saltern.modules.params import BadArgument

if TYPE_CHECKING:
    from ipaddress import IPv4Interface, IPv4Network, IPv6Interface, IPv6Network

KINDS: Mapping[str | None, str] = {"public": "is_global", "private": "is_private"}


def _chosen(
    ctx: Context, family: str, interface: object, loopback: bool, cidr: str | None, kind: str | None
) -> Iterator[tuple[Address, IPv4Interface | IPv6Interface]]:
    from ipaddress import ip_interface

    net = _network(cidr) if cidr else None
    names = None if interface is None else {str(name) for name in each(interface)}
    for one in addresses(ctx):
        if one.family != family or (names is not None and one.interface not in names):
            continue
        at = ip_interface(f"{one.address}/{one.prefix}")
        if (at.is_loopback and not loopback) or (net is not None and at.ip not in net):
            continue
        if kind in KINDS and not getattr(at.ip, KINDS[kind]):
            continue
        yield one, at


def _network(cidr: str) -> IPv4Network | IPv6Network:
    from ipaddress import ip_network

    try:
        return ip_network(cidr, strict=False)
    except ValueError:
        raise BadArgument(f"not a network such as 10.0.0.0/8: {cidr!r}") from None


@function
def ip_addrs(
    ctx: Context,
    interface: object = None,
    include_loopback: bool = False,
    cidr: str | None = None,
    type: str | None = None,
) -> list[str]:
    """The IPv4 addresses: of an interface, in a network, ``public`` or ``private`` ones."""
    return [one.address for one, _ in _chosen(ctx, "inet", interface, include_loopback, cidr, type)]


@function
def ipaddrs(
    ctx: Context,
    interface: object = None,
    include_loopback: bool = False,
    cidr: str | None = None,
    type: str | None = None,
) -> list[str]:
    """The same as ``network.ip_addrs``."""
    return ip_addrs(ctx, interface, include_loopback, cidr, type)


@function
def ip_addrs6(
    ctx: Context, interface: object = None, include_loopback: bool = False, cidr: str | None = None
) -> list[str]:
    """The IPv6 addresses: of an interface, in a network."""
    return [one.address for one, _ in _chosen(ctx, "inet6", interface, include_loopback, cidr, None)]


@function
def ipaddrs6(
    ctx: Context, interface: object = None, include_loopback: bool = False, cidr: str | None = None
) -> list[str]:
    """The same as ``network.ip_addrs6``."""
    return ip_addrs6(ctx, interface, include_loopback, cidr)


@function
def interface(ctx: Context, iface: str) -> list[dict[str, object]]:
    """The IPv4 addresses of an interface, with netmask and broadcast address."""
    return [
        {
            "address": one.address,
            "netmask": str(at.netmask),
            "broadcast": one.broadcast,
            "label": one.label or one.interface,
        }
        for one, at in _chosen(ctx, "inet", iface, True, None, None)
    ]


@function
def interface_ip(ctx: Context, iface: str) -> str:
    """The first IPv4 address of an interface, or nothing."""
    return next((one.address for one, _ in _chosen(ctx, "inet", iface, True, None, None)), "")


@function
def interfaces(ctx: Context) -> dict[str, object]:
    """Every interface with its addresses."""
    result: dict[str, object] = {}
    for name in sorted({one.interface for one in addresses(ctx)}):
        hardware = hw_addr(ctx, name)
        result[name] = {
            "up": True,
            **({"hwaddr": hardware} if hardware else {}),
            "inet": interface(ctx, name),
            "inet6": [
                {"address": one.address, "prefixlen": str(one.prefix)}
                for one in addresses(ctx)
                if one.interface == name and one.family == "inet6"
            ],
        }
    return result


@function
def hw_addr(ctx: Context, iface: str) -> str:
    """The hardware address of an interface, or nothing."""
    try:
        with open(f"/sys/class/net/{iface.replace('/', '')}/address", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


@function
def hwaddr(ctx: Context, iface: str) -> str:
    """The same as ``network.hw_addr``."""
    return hw_addr(ctx, iface)


@function
def subnets(ctx: Context, interfaces: object = None) -> list[str]:
    """The IPv4 networks this machine is in."""
    return sorted({str(at.network) for _, at in _chosen(ctx, "inet", interfaces, False, None, None)})


@function
def subnets6(ctx: Context) -> list[str]:
    """The IPv6 networks this machine is in."""
    return sorted({str(at.network) for _, at in _chosen(ctx, "inet6", None, False, None, None)})


@function
def in_subnet(ctx: Context, cidr: str, addr: object = None) -> bool:
    """Whether this machine, or one of these addresses, is in a network."""
    if addr is None:
        return bool(ip_addrs(ctx, cidr=cidr))
    return any(ip_in_subnet(ctx, str(one), cidr) for one in each(addr))


@function
def ip_in_subnet(ctx: Context, addr: str, cidr: str) -> bool:
    """Whether an address is in a network."""
    from ipaddress import ip_address

    return ip_address(addr) in _network(cidr)


@function
def calc_net(ctx: Context, ip_addr: str, netmask: str | None = None) -> str:
    """The network an address is in."""
    return str(_network(f"{ip_addr}/{netmask}" if netmask else ip_addr))


@function
def convert_cidr(ctx: Context, cidr: str) -> dict[str, str]:
    """A network, taken apart."""
    net = _network(cidr)
    return {
        "network": str(net.network_address),
        "netmask": str(net.netmask),
        "broadcast": str(net.broadcast_address),
    }


@function
def is_loopback(ctx: Context, ip_addr: str) -> bool:
    """Whether an address is one of this machine to itself."""
    from ipaddress import ip_address

    return ip_address(ip_addr).is_loopback


@function
def is_private(ctx: Context, ip_addr: str) -> bool:
    """Whether an address is for private networks."""
    from ipaddress import ip_address

    return ip_address(ip_addr).is_private


@function
def reverse_ip(ctx: Context, ip_addr: str) -> str:
    """The name under which DNS knows an address."""
    from ipaddress import ip_address

    return ip_address(ip_addr).reverse_pointer


@function
def get_hostname(ctx: Context) -> str:
    """The name of this machine."""
    import os

    return os.uname().nodename


@function
def get_fqdn(ctx: Context) -> str:
    """The full name of this machine."""
    return str(ctx.grains.get("fqdn") or get_hostname(ctx))


@function
def connect(
    ctx: Context, /, host: str, port: int | None = None, proto: str = "tcp", timeout: float = 5, **_: object
) -> dict[str, object]:
    """Whether a port of a host answers."""
    import socket

    if port is None:
        return {"result": False, "comment": "network.connect needs a port"}
    kind = socket.SOCK_DGRAM if proto == "udp" else socket.SOCK_STREAM
    try:
        family, _kind, _proto, _name, where = socket.getaddrinfo(host, int(port), 0, kind)[0]
        with socket.socket(family, kind) as line:
            line.settimeout(float(timeout))
            line.connect(where)
    except (OSError, ValueError) as problem:
        return {"result": False, "comment": f"Unable to connect to {host} on {proto} port {port}: {problem}"}
    return {"result": True, "comment": f"Successfully connected to {host} on {proto} port {port}"}
