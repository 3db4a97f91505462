"""The time zone of the machine, and the time of its hardware clock."""

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.programs import has, tool
from saltern.modules.api.refused import Refused
from saltern.system import files

LOCALTIME = "/etc/localtime"
TIMEZONE = "/etc/timezone"
ADJTIME = "/etc/adjtime"
ZONES = "/usr/share/zoneinfo"


def check_zone(zone: str) -> str:
    """A zone that this machine knows; raises ``Refused`` for any other."""
    path = f"{ZONES}/{zone}"
    if not zone or zone.startswith(("/", "-")) or ".." in zone.split("/") or not os.path.isfile(path):
        hint = "" if os.path.isdir(ZONES) else "; the package tzdata is not installed"
        raise Refused(f"no time zone is called {zone!r} on this machine{hint}")
    return zone


def zone(ctx: Context) -> str:
    """The name of the zone, from /etc/localtime, which programs read."""
    if os.path.islink(LOCALTIME):
        place = os.path.join(os.path.dirname(LOCALTIME), os.readlink(LOCALTIME))
        _, found, name = os.path.normpath(place).partition("/zoneinfo/")
        if found:
            return name
    return (ctx.host.read(TIMEZONE) or "UTC").strip()


def set_zone(ctx: Context, name: str) -> None:
    """Set the link, as in systemd and Debian, and /etc/timezone if it exists."""
    target = f"{ZONES}/{name}"
    files.link(LOCALTIME, lambda new, directory: os.symlink(target, new, dir_fd=directory))
    if os.path.exists(TIMEZONE):
        ctx.host.write(TIMEZONE, f"{name}\n")


def hardware(ctx: Context) -> str:
    """The time of the hardware clock: ``UTC`` or ``localtime``."""
    lines = (ctx.host.read(ADJTIME) or "").splitlines()
    return "localtime" if len(lines) > 2 and lines[2].strip() == "LOCAL" else "UTC"


def set_hardware(ctx: Context, clock: str) -> None:
    if os.path.isdir("/run/systemd/system") and has("timedatectl"):
        tool(ctx, "timedatectl", "set-local-rtc", "1" if clock == "localtime" else "0")
        return
    lines = (ctx.host.read(ADJTIME) or "0.0 0 0.0\n0\n").splitlines()[:2]
    ctx.host.write(ADJTIME, "\n".join([*lines, "LOCAL" if clock == "localtime" else "UTC", ""]))
