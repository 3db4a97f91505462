"""``network``: the names of this machine."""

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.interfaces import addresses
from saltern.modules.lib.networking import machine_name, resolver


@function
def get_hostname(ctx: Context) -> str:  # noqa: ARG001 - every function has it
    """The name of this machine.

    Example:
        ```console
        $ saltern call network.get_hostname
        local:
            web1
        ```
    """
    return os.uname().nodename


@function
def get_fqdn(ctx: Context) -> str:
    """The full name of this machine.

    Example:
        ```console
        $ saltern call network.get_fqdn
        local:
            web1.example.org
        ```
    """
    return str(ctx.grains.get("fqdn") or os.uname().nodename)


@function
def mod_hostname(ctx: Context, hostname: str) -> bool:
    """Set the name of this machine, now and at boot, and replace the old name in /etc/hosts.

    Args:
        hostname: the name.

    Example:
        ```console
        $ saltern call network.mod_hostname web2
        ```
    """
    machine_name.rename(ctx, resolver.host_name(hostname))
    return True


@function
def fqdns(ctx: Context) -> dict[str, list[str]]:
    """All full names of the addresses of this machine in DNS.

    Example:
        ```console
        $ saltern call network.fqdns
        ```
    """
    import socket
    from ipaddress import ip_address

    found: set[str] = set()
    for one in addresses(ctx):
        at = ip_address(one.address)
        if at.is_loopback or at.is_link_local:
            continue
        try:
            name, aliases, _ = socket.gethostbyaddr(one.address)
        except OSError:
            continue  # it has none
        found |= {text for text in (name, *aliases) if "." in text}
    return {"fqdns": sorted(found)}
