"""``timezone``: which time this machine keeps."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import os

from saltern.modules.api import function
from saltern.modules.context import Context

ZONES = "/usr/share/zoneinfo/"


@function
def get_zone(ctx: Context) -> str:
    """The name of the time zone, such as ``Europe/Berlin``."""
    if os.path.islink("/etc/localtime"):
        place = os.path.realpath("/etc/localtime")
        if ZONES in place:
            return place.partition(ZONES)[2]
    if os.path.exists("/etc/timezone"):
        with open("/etc/timezone", encoding="utf-8") as file:
            return file.read().strip()
    return "UTC"


@function
def get_offset(ctx: Context) -> str:
    """How far it is from UTC, such as ``+0100``."""
    import time

    return time.strftime("%z", time.localtime(ctx.clock.now()))


@function
def get_zonecode(ctx: Context) -> str:
    """Its short name, such as ``CET``."""
    import time

    return time.strftime("%Z", time.localtime(ctx.clock.now()))


@function
def zone_compare(ctx: Context, timezone: str) -> bool:
    """Whether this is the time zone of the machine."""
    return get_zone(ctx) == timezone


@function(name="list")
def zones(ctx: Context) -> object:
    """Every time zone of the machine."""
    from zoneinfo import available_timezones

    return sorted(available_timezones())
