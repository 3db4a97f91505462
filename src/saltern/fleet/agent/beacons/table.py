"""``BEACONS``: every beacon, by name. One is imported when it is configured.

A beacon is a function ``check(config, state)``: it returns the payloads to report. ``config`` are its
options as one mapping; ``state`` is kept between two checks, and is empty at the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

Payload = dict[str, Any]
Check = Callable[[Mapping[str, Any], dict[str, Any]], list[Payload]]

BEACONS: dict[str, str] = {
    "diskusage": "how full file systems are",
    "inotify": "files that change: by inotify of the kernel",
    "load": "load averages outside of a range",
    "log": "lines of a file that match a pattern",
    "memusage": "how full the memory is",
    "ps": "processes that run, or do not",
    "service": "services that start and stop",
    "status": "load, memory and disks, at each interval",
    "systemd": "the states of systemd units",
}


def find_check(name: str) -> Check | None:
    """The function of a beacon; None if there is none of that name."""
    if name not in BEACONS:
        return None
    check: Check = import_module(f"saltern.fleet.agent.beacons.{name}").check
    return check


def percent(value: object) -> float:
    """``63%``, or a number."""
    return float(str(value).strip().rstrip("%"))
