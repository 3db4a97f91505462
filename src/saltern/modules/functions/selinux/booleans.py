"""Functions of ``selinux`` for booleans."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib.selinux import booleans as policy
from saltern.modules.lib.selinux.booleans import Boolean


@function
def list_sebool(ctx: Context) -> dict[str, Boolean]:
    """All booleans: their state, default and description.

    Example:
        ```console
        $ saltern call selinux.list_sebool
        ```
    """
    return policy.read(ctx)


@function
def getsebool(ctx: Context, boolean: str) -> Boolean:
    """The state, default and description of a boolean; empty if there is none.

    Args:
        boolean: the boolean.

    Example:
        ```console
        $ saltern call selinux.getsebool httpd_can_network_connect
        ```
    """
    return policy.read(ctx).get(boolean, {})


@function
def setsebool(ctx: Context, boolean: str, value: object, persist: bool = False) -> bool:
    """Set a boolean. Returns true on success.

    Args:
        boolean: the boolean.
        value: on or off.
        persist: keep it after a reboot.

    Example:
        ```console
        $ saltern call selinux.setsebool httpd_can_network_connect on persist=true
        ```
    """
    return setsebools(ctx, {boolean: value}, persist)


@function
def setsebools(ctx: Context, pairs: Mapping[str, object], persist: bool = False) -> bool:
    """Set several booleans. Returns true on success.

    Args:
        pairs: the booleans, each with on or off.
        persist: keep it after a reboot.

    Example:
        ```console
        $ saltern call selinux.setsebools '{httpd_can_network_connect: on}' persist=true
        ```
    """
    values = {name: policy.read_switch(value, name) for name, value in pairs.items()}
    try:
        policy.change(ctx, values, persist=persist)
    except Refused:
        return False
    return True
