"""``system``: the name and the description of this machine, and reboots.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

import os

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.networking import machine_name, resolver
from saltern.modules.lib.tables import machine_info

LAZY: dict[str, str] = {"reboot": "reboot", "transaction": "transaction"}


def _facts(ctx: Context) -> Changes:
    return {
        "name": os.uname().nodename,
        "at boot": machine_name.boot_name(ctx),
        "description": machine_info.description(ctx),
    }


def _set_name(ctx: Context, name: str, changes: Changes) -> Result:
    resolver.host_name(name)

    def differs() -> Changes:
        return {} if (os.uname().nodename, machine_name.boot_name(ctx)) == (name, name) else dict(changes)

    return bring(
        ctx,
        differs,
        lambda _: machine_name.rename(ctx, name),
        facts=lambda: _facts(ctx),
        words=Words(
            f"The machine is called {name}",
            f"The machine would be called {name}",
            f"The machine was renamed to {name}",
        ),
    )


@state
def computer_name(ctx: Context, name: str) -> Result:
    """Set the name of this machine, now and at boot.

    Args:
        name: the name. It also replaces the old name in /etc/hosts.

    Example:
        ```yaml
        web1:
          system.computer_name: []
        ```
    """
    return _set_name(ctx, name, {"old": os.uname().nodename, "new": name})


@state
def hostname(ctx: Context, name: str) -> Result:
    """Set the name of this machine, now and at boot; the same as ``system.computer_name``.

    Args:
        name: the name.

    Example:
        ```yaml
        web1:
          system.hostname: []
        ```
    """
    return _set_name(ctx, name, {"hostname": name})


@state
def computer_desc(ctx: Context, name: str) -> Result:
    """Set the description of this machine; it is stored in /etc/machine-info.

    Args:
        name: the description.

    Example:
        ```yaml
        Web server in the cellar:
          system.computer_desc: []
        ```
    """
    name = str(name)

    def differs() -> Changes:
        now = machine_info.description(ctx) or ""
        return {} if now == name else {"old": now, "new": name}

    return bring(
        ctx,
        differs,
        lambda _: machine_info.describe(ctx, name),
        facts=lambda: _facts(ctx),
        words=Words(
            f"The machine is described as {name!r}",
            f"The machine would be described as {name!r}",
            f"The machine was described as {name!r}",
        ),
    )
