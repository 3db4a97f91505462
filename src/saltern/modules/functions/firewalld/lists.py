"""List, add and remove the contents of a zone."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.functions.firewalld.daemon import ask, of_zone
from saltern.modules.lib.firewalls.firewalld import KINDS, value, values


def list_values(ctx: Context, zone: str | None, arg: str, permanent: bool) -> list[str]:
    kind = KINDS[arg]
    said = ask(ctx, *of_zone(zone), f"--list-{kind.listed.replace(' ', '-')}", permanent=permanent)
    return values(said.splitlines(), kind)


def change(ctx: Context, zone: str | None, what: tuple[str, str, str], permanent: bool) -> str:
    """Change a zone. ``what``: add or remove, the kind, and the value."""
    verb, arg, which = what
    option = f"--{verb}-{KINDS[arg].option}={value(which, arg)}"
    return ask(ctx, *of_zone(zone), option, permanent=permanent)
