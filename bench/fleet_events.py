"""A flood of events: none is lost, and jobs are not held up."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.fleet_local import BenchFleet, running_fleet
from bench.fleet_measure import median, row, wait_for

DELAY = 2.0  # times the usual time of a job
SYSTEM = "flood1"
SEND = """
{{% for number in range({count}) %}}
{{% do salt['event.send']('flood/' ~ number, {{'number': number}}) %}}
{{% endfor %}}
done:
  test.nop
"""


def flood_rows(place: Path, count: int, rounds: int) -> list[dict[str, Any]]:
    """``count`` events from one system, while another one is pinged."""
    with running_fleet(place, (SYSTEM, "other1")) as fleet:
        fleet.write("controller/salt/flood.sls", SEND.format(count=count))
        with fleet.client() as client:
            client.trees.publish()
        ping: Callable[[], float] = lambda: fleet.verb("call", "test.ping", "--on", "other1")  # noqa: E731
        ping()
        usual = median([ping() for _ in range(rounds)])
        before = _last(fleet)
        sending = threading.Thread(target=lambda: fleet.verb("apply", "flood", "--on", SYSTEM))
        began = time.perf_counter()
        sending.start()
        taken = []
        while sending.is_alive() or _count(fleet, before) < count:
            taken.append(ping())
            if time.perf_counter() - began > 900:
                break
        sending.join()
        wait_for("the last event", lambda: _count(fleet, before) >= count)
        stored, seconds = _count(fleet, before), time.perf_counter() - began
    note = f"{count} events in {seconds:.0f} s, {os.cpu_count()} cores, {len(taken)} jobs meanwhile"
    return [
        row("events lost of a flood", count - stored, 0, note=note),
        row("job during a flood ÷ usual", median(taken) / usual, DELAY, note=f"usual {usual:.2f} s"),
    ]


def _last(fleet: BenchFleet) -> int:
    with fleet.client() as client:
        return max((int(one["number"]) for one in client.events()), default=0)


def _count(fleet: BenchFleet, after: int) -> int:
    """Different events of the flood that are stored."""
    with fleet.client() as client:
        return len({one["tag"] for one in client.events(after=after, tag="flood/*")})
