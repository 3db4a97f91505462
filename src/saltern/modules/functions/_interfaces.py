"""The addresses of this machine's interfaces, from ``ip``."""

from __future__ import annotations

from msgspec import Struct

from saltern.modules.context import Context


class Address(Struct, frozen=True):
    interface: str
    family: str
    address: str
    prefix: int
    broadcast: str | None = None
    label: str | None = None


def addresses(ctx: Context) -> list[Address]:
    """Every address; without ``ip``, those of the grains, which have no netmask."""
    kept = ctx.run.context.get("network.addresses")
    if isinstance(kept, list):
        return kept
    found = _asked(ctx) or _grains(ctx)
    ctx.run.context["network.addresses"] = found
    return found


def _asked(ctx: Context) -> list[Address]:
    import json

    ran = ctx.host.run(["ip", "-j", "address", "show", "up"])
    try:
        links = json.loads(ran.out) if ran.code == 0 else []
    except ValueError:
        return []
    return [
        Address(
            link["ifname"],
            one["family"],
            one["local"],
            one["prefixlen"],
            one.get("broadcast"),
            one.get("label"),
        )
        for link in links
        for one in link.get("addr_info", ())
        if "local" in one
    ]


def _grains(ctx: Context) -> list[Address]:
    found = []
    for family, grain, prefix in (("inet", "ip4_interfaces", 32), ("inet6", "ip6_interfaces", 128)):
        interfaces = ctx.grains.get(grain)
        for name, known in interfaces.items() if isinstance(interfaces, dict) else ():
            found += [Address(str(name), family, str(address), prefix) for address in known]
    return found
