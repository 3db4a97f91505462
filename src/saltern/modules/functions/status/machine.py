"""``status``: load, memory and time."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import os
from datetime import UTC, datetime

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function


@function
def loadavg(ctx: Context) -> dict[str, float]:
    """The load of the last 1, 5 and 15 minutes.

    Example:
        ```console
        $ saltern call status.loadavg
        ```
    """
    return dict(zip(("1-min", "5-min", "15-min"), os.getloadavg(), strict=True))


@function
def uptime(ctx: Context) -> dict[str, object]:
    """How long the machine has been up, and since when.

    Example:
        ```console
        $ saltern call status.uptime
        ```
    """
    with open("/proc/uptime", encoding="ascii") as file:
        seconds = int(float(file.read().split()[0]))
    since = int(ctx.clock.now()) - seconds
    days, rest = divmod(seconds, 86400)
    hours, rest = divmod(rest, 3600)
    return {
        "seconds": seconds,
        "since_iso": datetime.fromtimestamp(since, UTC).replace(tzinfo=None).isoformat(),
        "since_t": since,
        "days": days,
        "time": f"{hours}:{rest // 60:02d}",
        "users": len(ctx.host.run(["who", "-s"]).out.splitlines()),
    }


@function
def time(ctx: Context, format: str = "%A, %d. %B %Y %I:%M%p") -> str:
    """The time of this machine, in a format of strftime.

    Example:
        ```console
        $ saltern call status.time %Y-%m-%d
        ```
    """
    return datetime.fromtimestamp(ctx.clock.now()).strftime(format)


@function
def meminfo(ctx: Context) -> dict[str, dict[str, str]]:
    """The memory of the machine and its usage, from the kernel.

    Example:
        ```console
        $ saltern call status.meminfo
        ```
    """
    with open("/proc/meminfo", encoding="ascii") as file:
        rows = (line.replace(":", " ").split() for line in file)
        return {row[0]: dict(zip(("value", "unit"), row[1:], strict=False)) for row in rows if row}


@function
def nproc(ctx: Context) -> int:
    """The number of processors.

    Example:
        ```console
        $ saltern call status.nproc
        ```
    """
    return os.cpu_count() or 0


@function
def version(ctx: Context) -> str:
    """The version of the kernel.

    Example:
        ```console
        $ saltern call status.version
        ```
    """
    with open("/proc/version", encoding="utf-8") as file:
        return file.read().strip()
