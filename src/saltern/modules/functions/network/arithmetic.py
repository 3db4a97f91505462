"""``network``: computations with addresses and networks."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

from typing import TYPE_CHECKING

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network


def network_of(cidr: str) -> IPv4Network | IPv6Network:
    from ipaddress import ip_network

    try:
        return ip_network(cidr, strict=False)
    except ValueError:
        raise BadArgument(f"not a network such as 10.0.0.0/8: {cidr!r}") from None


def address_of(text: str) -> IPv4Address | IPv6Address:
    from ipaddress import ip_address

    try:
        return ip_address(text)
    except ValueError:
        raise BadArgument(f"not an address such as 10.0.0.7: {text!r}") from None


@function
def ip_in_subnet(ctx: Context, addr: str, cidr: str) -> bool:
    """True if an address is in a network.

    Args:
        addr: the address.
        cidr: the network.

    Example:
        ```console
        $ saltern call network.ip_in_subnet 10.0.0.7 10.0.0.0/24
        local:
            True
        ```
    """
    return address_of(addr) in network_of(cidr)


@function
def calc_net(ctx: Context, ip_addr: str, netmask: str | None = None) -> str:
    """The network of an address.

    Args:
        ip_addr: the address, optionally with its prefix length.
        netmask: the netmask.

    Example:
        ```console
        $ saltern call network.calc_net 10.0.0.7 255.255.255.0
        local:
            10.0.0.0/24
        ```
    """
    return str(network_of(f"{ip_addr}/{netmask}" if netmask else ip_addr))


@function
def convert_cidr(ctx: Context, cidr: str) -> dict[str, str]:
    """The parts of a network.

    Args:
        cidr: the network.

    Example:
        ```console
        $ saltern call network.convert_cidr 10.0.0.0/24
        local:
            ----------
            broadcast:
                10.0.0.255
            netmask:
                255.255.255.0
            network:
                10.0.0.0
        ```
    """
    net = network_of(cidr)
    return {
        "network": str(net.network_address),
        "netmask": str(net.netmask),
        "broadcast": str(net.broadcast_address),
    }


@function
def is_loopback(ctx: Context, ip_addr: str) -> bool:
    """True if an address is a loopback address.

    Args:
        ip_addr: the address.

    Example:
        ```console
        $ saltern call network.is_loopback 127.0.0.1
        local:
            True
        ```
    """
    return address_of(ip_addr).is_loopback


@function
def is_private(ctx: Context, ip_addr: str) -> bool:
    """True if an address is for private networks.

    Args:
        ip_addr: the address.

    Example:
        ```console
        $ saltern call network.is_private 10.0.0.7
        local:
            True
        ```
    """
    return address_of(ip_addr).is_private


@function
def reverse_ip(ctx: Context, ip_addr: str) -> str:
    """The reverse DNS name of an address.

    Args:
        ip_addr: the address.

    Example:
        ```console
        $ saltern call network.reverse_ip 10.0.0.7
        local:
            7.0.0.10.in-addr.arpa
        ```
    """
    return address_of(ip_addr).reverse_pointer


@function
def iphexval(ctx: Context, ip: str) -> str:
    """An IPv4 address in hexadecimal digits.

    Args:
        ip: the address.

    Example:
        ```console
        $ saltern call network.iphexval 10.0.0.1
        ```
    """
    return address_of(ip).packed.hex().upper()
