"""``sysctl``: kernel parameters."""

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import one_line
from saltern.modules.lib.tables import settings, sysctl


@function
def default_config(ctx: Context) -> str:  # noqa: ARG001 - Salt's signature
    """The file that keeps parameters across reboots.

    Example:
        ```console
        $ saltern call sysctl.default_config
        ```
    """
    return sysctl.usual_config()


@function
def get(ctx: Context, name: str) -> str:  # noqa: ARG001
    """The value of a parameter; empty if there is none.

    Example:
        ```console
        $ saltern call sysctl.get kernel.ostype
        local:
            Linux
        ```
    """
    return sysctl.running_value(name) or ""


@function
def show(ctx: Context, config_file: object = False) -> dict[str, str]:
    """All parameters, or those in a file.

    Example:
        ```console
        $ saltern call sysctl.show
        ```
    """
    if config_file:
        return settings.values(settings.read(ctx, str(config_file)))
    return sysctl.every(ctx)


@function
def assign(ctx: Context, name: str, value: object) -> dict[str, str]:  # noqa: ARG001
    """Set a parameter until the next boot.

    Example:
        ```console
        $ saltern call sysctl.assign net.ipv4.ip_forward 1
        local:
            ----------
            net.ipv4.ip_forward:
                1
        ```
    """
    sysctl.assign(name, one_line(sysctl.normal(value), "value"))
    return {name: sysctl.running_value(name) or ""}


@function
def persist(ctx: Context, name: str, value: object, config: str | None = None) -> str:
    """Set a parameter now and at boot. Returns ``Updated`` or ``Already set``.

    Example:
        ```console
        $ saltern call sysctl.persist net.ipv4.ip_forward 1
        local:
            Updated
        ```
    """
    file, wanted = config or sysctl.usual_config(), one_line(sysctl.normal(value), "value")
    text = settings.read(ctx, file)
    now = (sysctl.running_value(name), sysctl.normal(settings.values(text).get(name, "")))
    if now == (wanted, wanted):
        return "Already set"
    sysctl.assign(name, wanted)
    ctx.host.makedirs(os.path.dirname(file))
    ctx.host.write(file, settings.with_value(text, name, wanted))
    return "Updated"
