"""``status``: disk usage, and several values at once."""

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.functions.status import counters, machine, processes


@function
def diskusage(ctx: Context, *args: str) -> dict[str, object]:  # noqa: ARG001 - every function has it
    """The size and free space of file systems, in bytes.

    Args:
        args: paths, and patterns for kinds of file systems such as ``ext?``; all if not given.

    Example:
        ```console
        $ saltern call status.diskusage /
        ```
    """
    places = [arg for arg in args if arg.startswith("/")]
    kinds = [arg for arg in args if not arg.startswith("/")]
    found: dict[str, object] = {}
    for place in dict.fromkeys([*places, *_mount_points(kinds if args else ["*"])]):
        try:
            reported = os.statvfs(place)
        except FileNotFoundError:
            continue
        except OSError:
            found[place] = {"available": None, "total": None}
            continue
        found[place] = {
            "available": reported.f_bavail * reported.f_frsize,
            "total": reported.f_blocks * reported.f_frsize,
        }
    return found


def _mount_points(kinds: list[str]) -> list[str]:
    """The mount points of file systems of these kinds."""
    from fnmatch import fnmatchcase

    if not kinds:
        return []
    with open("/proc/mounts", encoding="utf-8", errors="surrogateescape") as file:
        rows = [line.split() for line in file]
    return [
        row[1].encode().decode("unicode_escape")  # spaces are written as \040
        for row in rows
        if any(fnmatchcase(row[2], kind) for kind in kinds)
    ]


@function
def all_status(ctx: Context) -> dict[str, object]:
    """The values of all functions of ``status``.

    Example:
        ```console
        $ saltern call status.all_status
        ```
    """
    return {
        "cpuinfo": counters.cpuinfo(ctx),
        "cpustats": counters.cpustats(ctx),
        "diskstats": counters.diskstats(ctx),
        "diskusage": diskusage(ctx),
        "loadavg": machine.loadavg(ctx),
        "meminfo": machine.meminfo(ctx),
        "netdev": counters.netdev(ctx),
        "netstats": counters.netstats(ctx),
        "uptime": machine.uptime(ctx),
        "vmstats": counters.vmstats(ctx),
        "w": processes.w(ctx),
    }


@function
def custom(ctx: Context) -> dict[str, object]:
    """The values selected in the configuration: ``status.cpustats.custom: [ctxt, btime]`` selects these two.

    Example:
        ```console
        $ saltern call status.custom
        ```
    """
    found: dict[str, object] = {}
    for key, names in ctx.opts.items():
        fun = key.removesuffix(".custom")
        if not key.startswith("status.") or fun == key or fun == "status" or fun not in ctx.functions:
            continue
        reported = ctx.functions[fun]()
        for name in names if isinstance(names, list) else [names]:
            found[str(name)] = reported.get(name, "UNKNOWN") if isinstance(reported, dict) else "UNKNOWN"
    return found
