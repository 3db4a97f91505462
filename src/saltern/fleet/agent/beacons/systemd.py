"""``systemd``: the states of units, when they change: ``units: {nginx.service: {}}``."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from typing import Any

FIELDS = ("ActiveState", "SubState", "UnitFileState")


def check(config: Mapping[str, Any], state: dict[str, Any]) -> list[dict[str, Any]]:
    """The state of each unit whose state has changed since the last check."""
    found = []
    for unit in config.get("units") or {}:
        now = unit_state(str(unit))
        before = state.get(unit)
        state[unit] = now
        if now != before and (before is not None or config.get("emitatstartup", True)):
            found.append({"tag": str(unit), "unit": str(unit), "before": before or {}, **now})
    return found


def unit_state(unit: str) -> dict[str, str]:
    """The state of a unit according to systemd; empty without systemd."""
    command = ["systemctl", "show", "--no-pager", f"--property={','.join(FIELDS)}", "--", unit]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    rows = (line.partition("=") for line in done.stdout.splitlines())
    return {name: value for name, _, value in rows if name in FIELDS}
