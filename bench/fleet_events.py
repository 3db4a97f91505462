"""A flood of events: none is lost, and jobs are not delayed.

A job is measured in times of a command beside it that asks no controller, so that what else the machine does
at that moment counts for both.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

from bench.fleet_local import BenchFleet, running_fleet
from bench.fleet_measure import cpu_alone, median, row, wait_for

DELAY = 2.0  # times the usual time of a job
EVENT_CPU = 1.0  # ms
PATIENCE = 900.0  # seconds for the whole flood
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
        _pair(fleet)
        began_with = cpu_alone(fleet.controller())
        usual = [_pair(fleet) for _ in range(rounds)]
        for_job = (cpu_alone(fleet.controller()) - began_with) / rounds
        seen, spent = Seen(fleet), cpu_alone(fleet.controller())
        sending = threading.Thread(target=lambda: fleet.verb("apply", "flood", "--on", SYSTEM))
        began = time.perf_counter()
        sending.start()
        taken = []
        while sending.is_alive() or seen.count() < count:
            taken.append(_pair(fleet))
            if time.perf_counter() - began > PATIENCE:
                break
        sending.join()
        wait_for("the last event", lambda: seen.count() >= count)
        stored, seconds = seen.count(), time.perf_counter() - began
        spent = cpu_alone(fleet.controller()) - spent - for_job * len(taken)
    note = f"{count} events in {seconds:.0f} s, {os.cpu_count()} cores, {len(taken)} jobs meanwhile"
    jobs, others = [one.job for one in usual], [one.job for one in taken]
    ratio = [one.ratio for one in usual], [one.ratio for one in taken]
    return [
        row("events lost of a flood", count - stored, 0, note=note),
        row("job during a flood ÷ usual", median(others) / median(jobs), DELAY, note=f"{median(jobs):.2f} s"),
        row(
            "slowest job during a flood ÷ usual, each in times of a command beside it",
            max(ratio[1]) / median(ratio[0]),
            DELAY,
            note=f"the slowest before it: {max(ratio[0]) / median(ratio[0]):.2f}",
        ),
        row(
            "controller CPU for each event of a flood, without that of the jobs meanwhile, ms",
            spent / count * 1000,
            EVENT_CPU,
            note=f"{for_job * 1000:.0f} ms for a job",
        ),
    ]


class Pair(NamedTuple):
    """Seconds of a job, and of a command that asks no controller."""

    job: float
    other: float

    @property
    def ratio(self) -> float:
        return self.job / self.other


def _pair(fleet: BenchFleet) -> Pair:
    """The command beside the job is run before it and after it: the mean of both counts."""
    first = _alone(fleet)
    job = fleet.verb("call", "test.ping", "--on", "other1")
    return Pair(job, (first + _alone(fleet)) / 2)


def _alone(fleet: BenchFleet) -> float:
    before = time.perf_counter()
    fleet.call("call", "test.ping", "--on", "local")
    return time.perf_counter() - before


class Seen:
    """Events of the flood that are stored. Each is read once: reading is work for the controller, too."""

    def __init__(self, fleet: BenchFleet) -> None:
        self._fleet = fleet
        self._tags: set[str] = set()
        with fleet.client() as client:
            self._cursor = max((int(one["number"]) for one in client.events()), default=0)

    def count(self) -> int:
        with self._fleet.client() as client:
            for one in client.events(after=self._cursor, tag="flood/*"):
                self._cursor = max(self._cursor, int(one["number"]))
                self._tags.add(one["tag"])
        return len(self._tags)
