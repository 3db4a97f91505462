"""``diskusage``: file systems that are fuller than a limit: ``/: 63%``; a name may be an expression."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from saltern.fleet.agent.beacons.table import percent

WORDS = frozenset({"interval", "onchangeonly", "emitatstartup", "disable_during_state_run", "enabled"})


def check(config: Mapping[str, Any], _state: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for name, limit in config.items():
        if name in WORDS or name == "beacon_module":
            continue
        for mount in _mounts(name):
            used = used_percent(mount)
            if used is not None and used >= percent(limit):
                found.append({"diskusage": used, "mount": mount})
    return found


def _mounts(name: str) -> Iterator[str]:
    """The mount points that a name means: itself, or those that it matches as an expression."""
    if os.path.ismount(name):
        yield name
        return
    try:
        pattern = re.compile(name)
    except re.error:
        return
    with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
        points = dict.fromkeys(line.split()[1] for line in file)
    yield from (point for point in points if pattern.match(point))


def used_percent(mount: str) -> float | None:
    """How full a file system is for users other than root; None if that cannot be read."""
    try:
        found = os.statvfs(mount)
    except OSError:
        return None
    used = found.f_blocks - found.f_bfree
    total = used + found.f_bavail
    return round(100 * used / total, 1) if total else None
