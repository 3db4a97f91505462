"""``service``: whether services run: ``services: {nginx: {onchangeonly: True, delay: 30}}``."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from typing import Any


def check(config: Mapping[str, Any], state: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, given in (config.get("services") or {}).items():
        options = given if isinstance(given, Mapping) else {}
        found += report(str(name), options, state, is_running, time.monotonic)
    return found


def report(
    name: str,
    options: Mapping[str, Any],
    state: dict[str, Any],
    running: Callable[[str], bool],
    clock: Callable[[], float],
) -> list[dict[str, Any]]:
    """The payload for one service: at each check, or with ``onchangeonly`` when its state has changed and
    lasted for ``delay`` seconds.
    """
    says: dict[str, Any] = {"running": running(name)}
    if not says["running"] and (marker := options.get("uncleanshutdown")):
        says["shutdown"] = not os.path.exists(str(marker))  # a service that ends in order removes its file
    payload = [{"tag": name, "service_name": name, name: says}]
    if not options.get("onchangeonly"):
        return payload
    known = state.get(name)
    if known is None:
        state[name] = {"says": says, "since": None}
        return payload if options.get("emitatstartup", True) else []
    if says == known["says"]:
        known["since"] = None
        return []
    known["since"] = clock() if known["since"] is None else known["since"]
    if clock() - known["since"] < float(options.get("delay") or 0):
        return []
    state[name] = {"says": says, "since": None}
    return payload


def is_running(name: str) -> bool:
    """True if the service runs, according to systemd or else its init script."""
    unit = name if "." in name else f"{name}.service"
    systemd = os.path.isdir("/run/systemd/system")
    command = ["systemctl", "is-active", "--quiet", "--", unit] if systemd else ["service", name, "status"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
