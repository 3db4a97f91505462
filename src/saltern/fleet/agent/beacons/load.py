"""``load``: load averages outside of a range: ``averages: {1m: [0.0, 2.0]}``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

NAMES = ("1m", "5m", "15m")


def check(config: Mapping[str, Any], state: dict[str, Any]) -> list[dict[str, Any]]:
    """All averages, if one of them is out of its range; with ``onchangeonly`` when that begins or ends."""
    values = dict(zip(NAMES, (round(one, 2) for one in os.getloadavg()), strict=True))
    outside = any(_is_outside(values[name], limits) for name, limits in _averages(config).items())
    first, before = "outside" not in state, state.get("outside", False)
    state["outside"] = outside
    if not config.get("onchangeonly", False):
        return [values] if outside else []
    if first:
        return [values] if outside or config.get("emitatstartup", True) else []
    return [values] if outside is not before else []


def _averages(config: Mapping[str, Any]) -> dict[str, Any]:
    given = config.get("averages", {})
    return {name: limits for name, limits in given.items() if name in NAMES}


def _is_outside(value: float, limits: Any) -> bool:
    low, high = (float(one) for one in limits)
    return not low <= value <= high
