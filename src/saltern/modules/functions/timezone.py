"""``timezone``: the time zone of this machine."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import time

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib.tables import clock
from saltern.modules.lib.tables.clock import set_hardware


@function
def get_zone(ctx: Context) -> str:
    """The name of the time zone, such as ``Europe/Berlin``.

    Example:
        ```console
        $ saltern call timezone.get_zone
        local:
            Europe/Berlin
        ```
    """
    return clock.zone(ctx)


@function
def set_zone(ctx: Context, timezone: str) -> bool:
    """Set the time zone.

    Example:
        ```console
        $ saltern call timezone.set_zone Europe/Berlin
        local:
            True
        ```
    """
    clock.set_zone(ctx, clock.check_zone(timezone))
    return True


@function
def get_hwclock(ctx: Context) -> str:
    """The time in the hardware clock: ``UTC`` or ``localtime``.

    Example:
        ```console
        $ saltern call timezone.get_hwclock
        ```
    """
    return clock.hardware(ctx)


@function
def set_hwclock(ctx: Context, clock: str) -> bool:
    """Set the hardware clock to ``UTC`` or ``localtime``.

    Example:
        ```console
        $ saltern call timezone.set_hwclock localtime
        local:
            True
        ```
    """
    if clock not in ("UTC", "localtime"):
        raise Refused(f"the hardware clock can keep UTC or localtime, not {clock!r}")
    set_hardware(ctx, clock)
    return True


@function
def get_offset(ctx: Context) -> str:
    """The offset of the time zone from UTC, such as ``+0100``.

    Example:
        ```jinja
        local:
            +0…00
        $ saltern call timezone.get_offset
        local:
            +0…00
        ```
        ```text
        local:
            +0…00
        $ saltern call timezone.get_offset
        local:
            +0…00
        ```
    """
    time.tzset()  # an earlier state may have set another zone
    return time.strftime("%z", time.localtime(ctx.clock.now()))


@function
def get_zonecode(ctx: Context) -> str:
    """The short name of the time zone, such as ``CET``.

    Example:
        ```jinja
        local:
            CE…T
        $ saltern call timezone.get_zonecode
        local:
            CE…T
        ```
        ```text
        local:
            CE…T
        $ saltern call timezone.get_zonecode
        local:
            CE…T
        ```
    """
    time.tzset()
    return time.strftime("%Z", time.localtime(ctx.clock.now()))


@function
def zone_compare(ctx: Context, timezone: str) -> bool:
    """True if this is the time zone of the machine.

    Example:
        ```console
        $ saltern call timezone.zone_compare Europe/Berlin
        local:
            True
        ```
    """
    return get_zone(ctx) == timezone


@function(name="list")
def zones(ctx: Context) -> object:
    """All time zones that the machine has.

    Example:
        ```console
        $ saltern call timezone.list
        local:
        …
            - Europe/Berlin
        …
        ```
    """
    from zoneinfo import available_timezones

    return sorted(available_timezones())
