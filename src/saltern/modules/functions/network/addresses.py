"""``network``: the interfaces of this machine and their addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.network.arithmetic import ip_in_subnet, network_of
from saltern.modules.lib.interfaces import Address, Interface, addresses
from saltern.modules.lib.interfaces import interfaces as every
from saltern.modules.lib.nested_data import each

if TYPE_CHECKING:
    from ipaddress import IPv4Interface, IPv6Interface

KINDS: Mapping[str | None, str] = {"public": "is_global", "private": "is_private"}
At = tuple[Address, "IPv4Interface | IPv6Interface"]


def _chosen_addresses(
    ctx: Context,
    family: str,
    interface: object = None,
    loopback: bool = True,
    cidr: str | None = None,
    kind: str | None = None,
) -> Iterator[At]:
    from ipaddress import ip_interface

    net = network_of(cidr) if cidr else None
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


@function
def ip_addrs(
    ctx: Context,
    interface: object = None,
    include_loopback: bool = False,
    cidr: str | None = None,
    type: str | None = None,
) -> list[str]:
    """The IPv4 addresses of this machine.

    Args:
        interface: only those of this interface, or of a list of them.
        include_loopback: include those of the loopback interface.
        cidr: only those in this network.
        type: only ``public`` or only ``private`` ones.

    Example:
        ```console
        $ saltern call network.ip_addrs include_loopback=true
        local:
            - 127.0.0.1
        ```
    """
    return [one.address for one, _ in _chosen_addresses(ctx, "inet", interface, include_loopback, cidr, type)]


@function
def ipaddrs(
    ctx: Context,
    interface: object = None,
    include_loopback: bool = False,
    cidr: str | None = None,
    type: str | None = None,
) -> list[str]:
    """The same as ``network.ip_addrs``.

    Args:
        interface: only those of this interface, or of a list of them.
        include_loopback: include those of the loopback interface.
        cidr: only those in this network.
        type: only ``public`` or only ``private`` ones.

    Example:
        ```console
        $ saltern call network.ipaddrs lo include_loopback=true
        local:
            - 127.0.0.1
        ```
    """
    return ip_addrs(ctx, interface, include_loopback, cidr, type)


@function
def ip_addrs6(
    ctx: Context, interface: object = None, include_loopback: bool = False, cidr: str | None = None
) -> list[str]:
    """The IPv6 addresses of this machine.

    Args:
        interface: only those of this interface, or of a list of them.
        include_loopback: include those of the loopback interface.
        cidr: only those in this network.

    Example:
        ```console
        $ saltern call network.ip_addrs6 include_loopback=true
        local:
            - ::1
        ```
    """
    return [one.address for one, _ in _chosen_addresses(ctx, "inet6", interface, include_loopback, cidr)]


@function
def ipaddrs6(
    ctx: Context, interface: object = None, include_loopback: bool = False, cidr: str | None = None
) -> list[str]:
    """The same as ``network.ip_addrs6``.

    Args:
        interface: only those of this interface, or of a list of them.
        include_loopback: include those of the loopback interface.
        cidr: only those in this network.

    Example:
        ```console
        $ saltern call network.ipaddrs6 lo include_loopback=true
        local:
            - ::1
        ```
    """
    return ip_addrs6(ctx, interface, include_loopback, cidr)


@function
def interface(ctx: Context, iface: str) -> list[dict[str, object]]:
    """The IPv4 addresses of an interface, with netmask and broadcast address.

    Args:
        iface: the interface.

    Example:
        ```console
        $ saltern call network.interface lo
        local:
            |_
              ----------
              address:
                  127.0.0.1
              broadcast:
                  None
              label:
                  lo
              netmask:
                  255.0.0.0
        ```
    """
    return [_inet(one, str(at.netmask)) for one, at in _chosen_addresses(ctx, "inet", iface)]


def _inet(one: Address, netmask: str) -> dict[str, object]:
    return {
        "address": one.address,
        "netmask": netmask,
        "broadcast": one.broadcast,
        "label": one.label or one.interface,
    }


@function
def interface_ip(ctx: Context, iface: str) -> str:
    """The first IPv4 address of an interface, or an empty text.

    Args:
        iface: the interface.

    Example:
        ```console
        $ saltern call network.interface_ip lo
        local:
            127.0.0.1
        ```
    """
    return next((one.address for one, _ in _chosen_addresses(ctx, "inet", iface)), "")


@function
def interfaces(ctx: Context) -> dict[str, object]:
    """All interfaces: whether they are up, their MAC addresses and their addresses.

    Example:
        ```console
        $ saltern call network.interfaces
        ```
    """
    found: dict[str, object] = {link.name: _describe_link(link) for link in every(ctx)}
    return found or {one.interface: {"up": True} for one in addresses(ctx)}


def _describe_link(link: Interface) -> dict[str, object]:
    from ipaddress import ip_interface

    reported: dict[str, object] = {"up": link.up}
    reported |= {"parent": link.parent} if link.parent else {}
    reported |= {"hwaddr": link.hardware} if link.hardware else {}
    lists: dict[str, list[dict[str, object]]] = {"inet": [], "inet6": [], "secondary": []}
    for one in link.addresses:
        if one.family == "inet":
            row = _inet(one, str(ip_interface(f"{one.address}/{one.prefix}").netmask))
            where = "secondary" if one.secondary else "inet"
            lists[where].append({"type": "inet", **row} if one.secondary else row)
        else:
            row = {"address": one.address, "prefixlen": str(one.prefix), "scope": one.scope}
            lists["inet6"].append(row)
    return reported | {name: rows for name, rows in lists.items() if rows}


@function
def hw_addr(ctx: Context, iface: str) -> str:
    """The MAC address of an interface, or an empty text.

    Args:
        iface: the interface.

    Example:
        ```console
        $ saltern call network.hw_addr lo
        local:
            00:00:00:00:00:00
        ```
    """
    return next((link.hardware for link in every(ctx) if link.name == iface), "")


@function
def hwaddr(ctx: Context, iface: str) -> str:
    """The same as ``network.hw_addr``.

    Args:
        iface: the interface.

    Example:
        ```console
        $ saltern call network.hwaddr lo
        local:
            00:00:00:00:00:00
        ```
    """
    return hw_addr(ctx, iface)


@function
def subnets(ctx: Context, interfaces: object = None) -> list[str]:
    """The IPv4 networks this machine is in.

    Args:
        interfaces: only those of this interface, or of a list of them.

    Example:
        ```console
        $ saltern call network.subnets
        ```
    """
    return sorted({str(at.network) for _, at in _chosen_addresses(ctx, "inet", interfaces, False)})


@function
def subnets6(ctx: Context) -> list[str]:
    """The IPv6 networks this machine is in.

    Example:
        ```console
        $ saltern call network.subnets6
        ```
    """
    return sorted({str(at.network) for _, at in _chosen_addresses(ctx, "inet6", None, False)})


def _networks(ctx: Context, family: str, interface: object, loopback: bool, verbose: bool) -> object:
    found = {str(at.network): at.network for _, at in _chosen_addresses(ctx, family, interface, loopback)}
    if not verbose:
        return sorted(found)
    return {
        name: {
            "address": str(net.network_address),
            "netmask": str(net.netmask),
            "num_addresses": net.num_addresses,
            "prefixlen": net.prefixlen,
        }
        for name, net in found.items()
    }


@function
def ip_networks(
    ctx: Context, interface: object = None, include_loopback: bool = False, verbose: bool = False
) -> object:
    """The IPv4 networks this machine is in.

    Args:
        interface: only those of this interface, or of a list of them.
        include_loopback: include the one of the loopback interface.
        verbose: include the address, the netmask and the size of each.

    Example:
        ```console
        $ saltern call network.ip_networks include_loopback=True
        ```
    """
    return _networks(ctx, "inet", interface, include_loopback, verbose)


@function
def ip_networks6(
    ctx: Context, interface: object = None, include_loopback: bool = False, verbose: bool = False
) -> object:
    """The IPv6 networks this machine is in.

    Args:
        interface: only those of this interface, or of a list of them.
        include_loopback: include the one of the loopback interface.
        verbose: include the address, the netmask and the size of each.

    Example:
        ```console
        $ saltern call network.ip_networks6 include_loopback=True
        ```
    """
    return _networks(ctx, "inet6", interface, include_loopback, verbose)


@function
def ifacestartswith(ctx: Context, cidr: str) -> list[str]:
    """The interfaces with an IPv4 address that begins with a text.

    Args:
        cidr: the beginning of an address, such as ``10.0``.

    Example:
        ```console
        $ saltern call network.ifacestartswith 127.0
        ```
    """
    fitting = (
        one.interface for one, _ in _chosen_addresses(ctx, "inet") if one.address.startswith(str(cidr))
    )
    return list(dict.fromkeys(fitting))


@function
def in_subnet(ctx: Context, cidr: str, addr: object = None) -> bool:
    """True if this machine, or one of these addresses, is in a network.

    Args:
        cidr: the network.
        addr: an address, or a list of them; those of this machine if not given.

    Example:
        ```console
        $ saltern call network.in_subnet 10.0.0.0/24 10.0.0.7
        local:
            True
        ```
    """
    if addr is None:
        return bool(ip_addrs(ctx, cidr=cidr))
    return any(ip_in_subnet(ctx, str(one), cidr) for one in each(addr))
