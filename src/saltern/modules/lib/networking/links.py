"""The interfaces of the kernel, and whether they are up."""

from __future__ import annotations

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.programs import error_text, tool
from saltern.modules.api.refused import Refused


class Link(Struct, frozen=True):
    up: bool
    hardware: str = ""
    mtu: int = 0


def links(ctx: Context) -> dict[str, Link]:
    """The interfaces by name, including aliases such as eth0:1."""
    import json

    ran = tool(ctx, "ip", "-j", "address", "show")
    try:
        rows = json.loads(ran.out or "[]")
    except ValueError:
        raise Refused(f"the output of ip cannot be parsed: {error_text(ran)}") from None
    found: dict[str, Link] = {}
    for row in rows:
        up = "UP" in row.get("flags", ())
        found[row["ifname"]] = Link(up, row.get("address", ""), row.get("mtu", 0))
        for one in row.get("addr_info", ()):
            if (label := one.get("label", "")) and label not in found:
                found[label] = Link(up)
    return found


def is_up(ctx: Context, name: str) -> bool:
    found = links(ctx).get(name)
    return found is not None and found.up
