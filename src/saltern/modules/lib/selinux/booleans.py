"""Booleans of the policy."""

from __future__ import annotations

import re
from collections.abc import Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused

LISTED = re.compile(r"(?P<name>\S+)\s+\((?P<state>\w+)\s*,\s*(?P<default>\w+)\s*\)\s*(?P<description>.*)")
SWITCHES = {
    "1": "on",
    "on": "on",
    "yes": "on",
    "true": "on",
    "0": "off",
    "off": "off",
    "no": "off",
    "false": "off",
}
Boolean = dict[str, str]


def read(ctx: Context) -> dict[str, Boolean]:
    """All booleans, in the form of ``selinux.list_sebool``."""
    lines = tool(ctx, "semanage", "boolean", "--list", "--noheading").out.splitlines()
    found = (LISTED.fullmatch(line.strip()) for line in lines)
    return {
        one["name"]: {"State": one["state"], "Default": one["default"], "Description": one["description"]}
        for one in found
        if one
    }


def read_switch(value: object, name: str) -> str:
    """``on`` or ``off``."""
    found = SWITCHES.get(str(value).lower())
    if found is None:
        raise Refused(f"{value!r} is not a valid value for the boolean {name}; use on or off")
    return found


def change(ctx: Context, values: Mapping[str, str], *, persist: bool) -> None:
    """Set booleans in one call; ``persist`` also keeps them after a reboot."""
    pairs = [f"{name}={value}" for name, value in values.items()]
    tool(ctx, "setsebool", *(["-P"] if persist else []), *pairs)
