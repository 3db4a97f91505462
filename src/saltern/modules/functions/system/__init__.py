"""``system``: the name, the description and the clock of this machine, reboots and shutdowns.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.programs import PLAIN_WORDS, has, tool
from saltern.modules.api.refused import Refused
from saltern.modules.lib.networking import machine_name, resolver
from saltern.modules.lib.tables import machine_info

if TYPE_CHECKING:
    from datetime import datetime

LAZY: dict[str, str] = dict.fromkeys(("halt", "init", "poweroff", "reboot", "shutdown"), "power")
REBOOT = "/run/reboot-required"  # written by Debian packages
TIMES = ("%I:%M:%S %p", "%I:%M %p", "%H:%M:%S", "%H:%M")
DATES = ("%Y-%m-%d", "%m-%d-%Y", "%m-%d-%y", "%m/%d/%Y", "%m/%d/%y", "%Y/%m/%d")


@function
def get_computer_name(ctx: Context) -> str:
    """The name of this machine.

    Example:
        ```console
        $ saltern call system.get_computer_name
        ```
    """
    return os.uname().nodename


@function
def set_computer_name(ctx: Context, hostname: str) -> bool:
    """Set the name of this machine, now and at boot.

    Args:
        hostname: the name.

    Example:
        ```console
        $ saltern call system.set_computer_name web1
        ```
    """
    machine_name.rename(ctx, resolver.host_name(hostname))
    return True


@function
def get_computer_desc(ctx: Context) -> object:
    """The description of this machine; false if there is none.

    Example:
        ```console
        $ saltern call system.get_computer_desc
        ```
    """
    found = machine_info.description(ctx)
    return False if found is None else found


@function
def set_computer_desc(ctx: Context, desc: str) -> bool:
    """Set the description of this machine.

    Args:
        desc: the description.

    Example:
        ```console
        $ saltern call system.set_computer_desc "Web server in the cellar"
        ```
    """
    machine_info.describe(ctx, str(desc))
    return True


def _now(ctx: Context, utc_offset: str | None) -> datetime:
    """The local time, or the time at an offset from UTC such as ``+0100``."""
    from datetime import datetime, timedelta, timezone

    if utc_offset is None:
        return datetime.fromtimestamp(ctx.clock.now())
    found = re.fullmatch(r"([+-]?)(\d\d)(\d\d)", str(utc_offset))
    if found is None:
        raise Refused(f"utc_offset needs hours and minutes such as +0100, got {utc_offset!r}")
    offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
    try:
        return datetime.fromtimestamp(ctx.clock.now(), timezone(-offset if found[1] == "-" else offset))
    except ValueError:
        raise Refused(f"utc_offset must be less than a day, not {utc_offset!r}") from None


@function
def get_system_date(ctx: Context, utc_offset: str | None = None) -> str:
    """The date, such as ``Sun 11/15/2026``.

    Args:
        utc_offset: the offset from UTC, such as ``+0100``; the zone of the machine if not given.

    Example:
        ```console
        $ saltern call system.get_system_date
        ```
    """
    return _now(ctx, utc_offset).strftime("%a %m/%d/%Y")


@function
def get_system_time(ctx: Context, utc_offset: str | None = None) -> str:
    """The time, such as ``02:40:05 PM``.

    Args:
        utc_offset: the offset from UTC, such as ``+0100``; the zone of the machine if not given.

    Example:
        ```console
        $ saltern call system.get_system_time
        ```
    """
    return _now(ctx, utc_offset).strftime("%I:%M:%S %p")


@function
def get_system_date_time(ctx: Context, utc_offset: str | None = None) -> str:
    """The date and time, such as ``2026-11-15 14:40:05``.

    Args:
        utc_offset: the offset from UTC, such as ``+0100``; the zone of the machine if not given.

    Example:
        ```console
        $ saltern call system.get_system_date_time
        ```
    """
    return _now(ctx, utc_offset).strftime("%Y-%m-%d %H:%M:%S")


@function
def set_system_date_time(
    ctx: Context,
    years: int | None = None,
    months: int | None = None,
    days: int | None = None,
    hours: int | None = None,
    minutes: int | None = None,
    seconds: int | None = None,
    utc_offset: str | None = None,
) -> bool:
    """Set the clock, and the hardware clock if there is one; parts that are not given stay unchanged.

    Args:
        years: the year.
        months: the month.
        days: the day of the month.
        hours: the hour, up to 23.
        minutes: the minute.
        seconds: the second.
        utc_offset: the offset of the given time from UTC, such as ``+0100``.

    Example:
        ```console
        $ saltern call system.set_system_date_time hours=11 minutes=37
        ```
    """
    now = _now(ctx, utc_offset)
    parts = ("year", "month", "day", "hour", "minute", "second")
    asked = zip(parts, (years, months, days, hours, minutes, seconds), strict=True)
    try:
        wanted = now.replace(**{part: int(value) for part, value in asked if value is not None})  # type: ignore[arg-type]
    except ValueError as problem:
        raise Refused(f"there is no such time: {problem}") from None
    tool(ctx, "date", "--utc", "--set", f"@{int(wanted.timestamp())}")
    if has_settable_hwclock(ctx):
        tool(ctx, "hwclock", "--systohc")
    return True


def _parse(text: str, formats: tuple[str, ...]) -> datetime | None:
    from datetime import datetime

    for one in formats:
        try:
            return datetime.strptime(str(text), one)
        except ValueError:
            continue
    return None


@function
def set_system_time(ctx: Context, newtime: str, utc_offset: str | None = None) -> bool:
    """Set the time of day; false if the text is not a time.

    Args:
        newtime: the time, such as ``14:40``, ``14:40:05`` or ``02:40 PM``.
        utc_offset: the offset of the given time from UTC, such as ``+0100``.

    Example:
        ```console
        $ saltern call system.set_system_time "'11:20'"
        ```
    """
    at = _parse(newtime, TIMES)
    if at is None:
        return False
    return set_system_date_time(
        ctx, hours=at.hour, minutes=at.minute, seconds=at.second, utc_offset=utc_offset
    )


@function
def set_system_date(ctx: Context, newdate: str, utc_offset: str | None = None) -> bool:
    """Set the date.

    Args:
        newdate: the date, such as ``2026-11-15``, ``11-15-26`` or ``11/15/2026``.
        utc_offset: the offset of the given date from UTC, such as ``+0100``.

    Example:
        ```console
        $ saltern call system.set_system_date 2026-11-15
        ```
    """
    on = _parse(newdate, DATES)
    if on is None:
        raise Refused(f"newdate needs a date such as 2026-11-15, got {newdate!r}")
    return set_system_date_time(ctx, years=on.year, months=on.month, days=on.day, utc_offset=utc_offset)


@function
def has_settable_hwclock(ctx: Context) -> bool:
    """True if there is a hardware clock that can be set.

    Example:
        ```console
        $ saltern call system.has_settable_hwclock
        ```
    """
    if not has("hwclock"):
        return False
    return ctx.host.run(["hwclock", "--test", "--systohc"], env=PLAIN_WORDS).code == 0


@function
def get_reboot_required_witnessed(ctx: Context) -> bool:
    """True if a reboot of this machine was requested since boot.

    Example:
        ```console
        $ saltern call system.get_reboot_required_witnessed
        ```
    """
    return ctx.host.exists(REBOOT)


@function
def set_reboot_required_witnessed(ctx: Context) -> bool:
    """Request a reboot of this machine; the next boot clears the request.

    Example:
        ```console
        $ saltern call system.set_reboot_required_witnessed
        ```
    """
    if not ctx.host.exists(REBOOT):
        ctx.host.write(REBOOT, "*** System restart required ***\n")
    return True
