"""``ps``: processes that run or do not: ``processes: {nginx: running, mysql: stopped}``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

SHORT = 15  # characters of a name that the kernel keeps


def check(config: Mapping[str, Any], _state: dict[str, Any]) -> list[dict[str, Any]]:
    running = names()
    found = []
    for name, wanted in (config.get("processes") or {}).items():
        is_there = str(name) in running or str(name)[:SHORT] in running
        if str(wanted) == "running" and is_there:
            found.append({str(name): "Running"})
        elif str(wanted) == "stopped" and not is_there:
            found.append({str(name): "Stopped"})
    return found


def names() -> set[str]:
    """The names of all processes."""
    found = set()
    for number in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/comm", encoding="utf-8", errors="replace") as file:
                found.add(file.read().strip())
        except OSError:
            continue  # the process has ended
    return found
