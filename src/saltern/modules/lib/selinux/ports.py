"""Types of ports."""

from __future__ import annotations

import re

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused
from saltern.system.process import Ran

PORT = re.compile(r"(?P<protocol>tcp|udp|dccp|sctp)/(?P<port>\d+(?:-\d+)?)")
LISTED = re.compile(r"(?P<type>\S+)\s+(?P<protocol>\w+)\s+(?P<ports>[\d, -]+)")


class Port(Struct, frozen=True):
    protocol: str
    port: str


def port(name: str, protocol: str | None, number: object) -> Port:
    """The port from ``tcp/8080``, or from protocol and number. Raises ``Refused`` for invalid ones."""
    found = PORT.fullmatch(name) or PORT.fullmatch(f"{protocol}/{number}")
    if not found:
        raise Refused(f"{name!r} is not a port such as tcp/8080 or udp/6000-6010; or give protocol and port")
    return Port(found["protocol"], found["port"])


def read(ctx: Context, *, local: bool = False) -> dict[Port, list[str]]:
    """The types of all ports, or only the local ones."""
    only = ["--locallist"] if local else []
    types: dict[Port, list[str]] = {}
    for line in tool(ctx, "semanage", "port", "--list", "--noheading", *only).out.splitlines():
        if reported := LISTED.fullmatch(line.strip()):
            for number in reported["ports"].split(","):
                types.setdefault(Port(reported["protocol"], number.strip()), []).append(reported["type"])
    return types


def type_of(ctx: Context, wanted: Port) -> str | None:
    """The type in force: a local type overrides that of the policy, which is still listed."""
    found = read(ctx).get(wanted, [])
    if len(found) > 1:
        found = read(ctx, local=True).get(wanted, found)
    return found[0] if found else None


def port_facts(wanted: Port, sel_type: str) -> dict[str, str]:
    return {"sel_type": sel_type, "protocol": wanted.protocol, "port": wanted.port}


def run(
    ctx: Context, action: str, wanted: Port, sel_type: str | None = None, sel_range: str | None = None
) -> Ran:
    """``add``, ``modify`` or ``delete`` the type of a port."""
    given = {"--type": sel_type, "--range": sel_range, "--proto": wanted.protocol}
    options = [word for option, value in given.items() if value for word in (option, value)]
    return tool(ctx, "semanage", "port", f"--{action}", *options, wanted.port)
