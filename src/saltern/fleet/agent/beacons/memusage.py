"""``memusage``: memory that is used, in percent: ``percent: 63%``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saltern.fleet.agent.beacons.table import percent


def check(config: Mapping[str, Any], _state: dict[str, Any]) -> list[dict[str, Any]]:
    used = used_percent()
    return [{"memusage": used}] if used >= percent(config.get("percent", 0)) else []


def used_percent() -> float:
    """The share of memory that programs use, as the kernel counts it."""
    with open("/proc/meminfo", encoding="ascii") as file:
        rows = dict(line.split(":", 1) for line in file)
    total, free = (float(rows[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
    return round(100 * (total - free) / total, 1)
