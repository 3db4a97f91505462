"""The addresses of this machine's interfaces, from ``ip``."""

from __future__ import annotations

from msgspec import Struct

from saltern.modules.api.context import Context


class Address(Struct, frozen=True):
    interface: str
    family: str
    address: str
    prefix: int
    broadcast: str | None = None
    label: str | None = None
    scope: str = ""
    secondary: bool = False


class Interface(Struct, frozen=True):
    name: str
    up: bool
    hardware: str = ""
    parent: str = ""
    addresses: tuple[Address, ...] = ()


def addresses(ctx: Context) -> list[Address]:
    """Every address of interfaces that are up; without ``ip``, those of the grains, which have no netmask."""
    kept = ctx.run.context.get("network.addresses")
    if isinstance(kept, list):
        return kept
    found = [one for link in interfaces(ctx) if link.up for one in link.addresses] or _grains(ctx)
    ctx.run.context["network.addresses"] = found
    return found


def interfaces(ctx: Context) -> list[Interface]:
    """Every interface, as the kernel counts them; none without ``ip``."""
    import json

    ran = ctx.host.run(["ip", "-j", "address", "show"])
    try:
        links = json.loads(ran.out) if ran.code == 0 else []
    except ValueError:
        return []
    return [
        Interface(
            link["ifname"],
            "UP" in link.get("flags", ()),
            link.get("address", ""),
            link.get("link", ""),
            tuple(_address(link["ifname"], one) for one in link.get("addr_info", ()) if "local" in one),
        )
        for link in links
        if "ifname" in link
    ]


def _address(name: str, one: dict[str, object]) -> Address:
    def text(key: str) -> str | None:
        return str(one[key]) if key in one else None

    return Address(
        name,
        str(one["family"]),
        str(one["local"]),
        int(str(one["prefixlen"])),
        text("broadcast"),
        text("label"),
        text("scope") or "",
        bool(one.get("secondary")),
    )


def _grains(ctx: Context) -> list[Address]:
    found = []
    for family, grain, prefix in (("inet", "ip4_interfaces", 32), ("inet6", "ip6_interfaces", 128)):
        known_here = ctx.grains.get(grain)
        for name, known in known_here.items() if isinstance(known_here, dict) else ():
            found += [Address(str(name), family, str(address), prefix) for address in known]
    return found
