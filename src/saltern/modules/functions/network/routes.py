"""``network``: routes and neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import check_known
from saltern.modules.functions.network.arithmetic import address_of

Row = dict[str, object]
# As netstat writes them.
FLAGS: Mapping[int, str] = {
    0x1: "U",
    0x200: "!",
    0x2: "G",
    0x4: "H",
    0x8: "R",
    0x10: "D",
    0x20: "M",
    0x200000: "n",
}
DEFAULTS = ("0.0.0.0", "::/0")
FAMILIES = ("inet", "inet6")


def _flags(number: int) -> str:
    return "".join(letter for bit, letter in FLAGS.items() if number & bit)


def _table(path: str) -> list[list[str]]:
    try:
        with open(path, encoding="ascii") as file:
            return [line.split() for line in file]
    except OSError:
        return []


def _inet() -> Iterator[Row]:
    """/proc/net/route has addresses in the byte order of the machine, which is little-endian."""
    from ipaddress import IPv4Address

    for row in _table("/proc/net/route")[1:]:
        goal, gateway, mask = (str(IPv4Address(bytes.fromhex(row[at])[::-1])) for at in (1, 2, 7))
        yield {
            "addr_family": "inet",
            "destination": goal,
            "gateway": gateway,
            "netmask": mask,
            "flags": _flags(int(row[3], 16)),
            "interface": row[0],
        }


def _inet6() -> Iterator[Row]:
    from ipaddress import IPv6Address

    for row in _table("/proc/net/ipv6_route"):
        goal, gateway = (str(IPv6Address(bytes.fromhex(row[at]))) for at in (0, 4))
        yield {
            "addr_family": "inet6",
            "destination": f"{goal}/{int(row[1], 16)}",
            "gateway": gateway,
            "netmask": "",
            "flags": _flags(int(row[8], 16)),
            "interface": row[9],
        }


@function
def routes(ctx: Context, family: str | None = None) -> list[Row]:  # noqa: ARG001 - Salt's signature
    """Every route of this machine.

    Args:
        family: only those of ``inet`` or ``inet6``.

    Example:
        ```console
        $ saltern call network.routes inet
        ```
    """
    if family:
        check_known(family, FAMILIES, "family")
    return [row for row in (*_inet(), *_inet6()) if family in (None, "", row["addr_family"])]


@function
def default_route(ctx: Context, family: str | None = None) -> list[Row]:
    """The default routes.

    Args:
        family: only those of ``inet`` or ``inet6``.

    Example:
        ```console
        $ saltern call network.default_route
        ```
    """
    return [row for row in routes(ctx, family) if row["destination"] in DEFAULTS]


@function
def get_route(ctx: Context, ip: str) -> dict[str, str | None]:
    """The route to an address: its gateway, interface and source address.

    Args:
        ip: the address.

    Example:
        ```console
        $ saltern call network.get_route 127.0.0.1
        ```
    """
    import json

    reported = json.loads(tool(ctx, "ip", "-j", "route", "get", str(address_of(ip))).out or "[{}]")[0]
    return {
        "destination": reported.get("dst"),
        "gateway": reported.get("gateway"),
        "interface": reported.get("dev"),
        "source": reported.get("prefsrc"),
    }


def _neighbours(ctx: Context, family: str) -> dict[str, str]:
    import json

    rows = json.loads(tool(ctx, "ip", "-j", family, "neighbour", "show").out or "[]")
    return {row["lladdr"]: row["dst"] for row in rows if "lladdr" in row}


@function
def arp(ctx: Context) -> dict[str, str]:
    """The IPv4 addresses of neighbours, by their MAC addresses.

    Example:
        ```console
        $ saltern call network.arp
        ```
    """
    return _neighbours(ctx, "-4")


@function
def ip_neighs(ctx: Context) -> dict[str, str]:
    """The same as ``network.arp``.

    Example:
        ```console
        $ saltern call network.ip_neighs
        ```
    """
    return _neighbours(ctx, "-4")


@function
def ip_neighs6(ctx: Context) -> dict[str, str]:
    """The IPv6 addresses of neighbours, by their MAC addresses.

    Example:
        ```console
        $ saltern call network.ip_neighs6
        ```
    """
    return _neighbours(ctx, "-6")
