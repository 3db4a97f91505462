"""``status``: load, memory and disks at each interval, as they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from saltern.fleet.agent.beacons.diskusage import used_percent as disk_percent
from saltern.fleet.agent.beacons.memusage import used_percent


def check(_config: Mapping[str, Any], _state: dict[str, Any]) -> list[dict[str, Any]]:
    one, five, fifteen = os.getloadavg()
    averages = {"1-min": round(one, 2), "5-min": round(five, 2), "15-min": round(fifteen, 2)}
    return [{"loadavg": averages, "memory": used_percent(), "disk": {"/": disk_percent("/")}}]
