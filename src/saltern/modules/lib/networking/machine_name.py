"""The name of the running machine, and its name at boot."""

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.programs import has, tool
from saltern.modules.lib.tables import hosts

HOSTNAME = "/etc/hostname"


def boot_name(ctx: Context) -> str:
    """The name of the machine at boot."""
    return (ctx.host.read(HOSTNAME) or "").strip()


def rename(ctx: Context, name: str, full: str = "") -> None:
    """Set the name now and at boot, and replace the old name in /etc/hosts, so that it still resolves."""
    old = os.uname().nodename
    if has("hostnamectl") and os.path.isdir("/run/systemd/system"):
        tool(ctx, "hostnamectl", "set-hostname", name)
    else:
        tool(ctx, "hostname", name)
    if boot_name(ctx) != name:
        ctx.host.write(HOSTNAME, f"{name}\n")
    _rename_in_hosts(ctx, old, name, full)


def _rename_in_hosts(ctx: Context, old: str, name: str, full: str) -> None:
    table = hosts.read(ctx)
    if old == "localhost":  # this name always stays
        return
    changed = table
    for address in table.addresses_of(old):
        names = [name if one == old else one for one in table.names_of(address)]
        more = [full] if full and full != name and full not in names else []
        changed = changed.with_only(address, tuple(dict.fromkeys([*more, *names])))
    if changed != table:
        hosts.write(ctx, changed)
