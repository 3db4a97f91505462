"""Real processes with a clock that is a day off, and a return that is larger than a controller takes."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator

import pytest
from tests.fleet.faults.kit import (
    FaultFleet,
    local_fleet,
    ping,
    resident,
    short_directory,
    submit,
    wait_returned,
    wait_until,
)

LIBRARY = next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), "")
MONOTONIC = ("FAKETIME_DONT_FAKE_MONOTONIC", "DONT_FAKE_MONOTONIC")  # names of old and new versions
MIB = 1024 * 1024


@pytest.fixture
def fleet() -> Iterator[FaultFleet]:
    with short_directory() as directory, local_fleet(directory, "web1") as fleet:
        yield fleet


def clock(off: str) -> dict[str, str]:
    """The environment of a process whose clock is that far off."""
    return {"LD_PRELOAD": LIBRARY, "FAKETIME": off, **dict.fromkeys(MONOTONIC, "1")}


@pytest.mark.skipif(not LIBRARY, reason="needs the package libfaketime")
@pytest.mark.skipif(
    not os.environ.get("CHAOS_SECONDS"),
    reason="runs with make chaos: under libfaketime poll fails now and then",
)
def test_a_clock_that_is_a_day_off_changes_nothing(fleet: FaultFleet) -> None:
    """An agent's in both directions, and a controller's that is ahead and is corrected then. One that is
    behind is refused: agents believe no time that is earlier than one they have seen, unless their own clock
    agrees.
    """
    for off in ("+1d", "-1d"):
        fleet.end("web1")
        fleet.clocks["web1"] = clock(off)
        fleet.run_agent("web1")
        wait_returned(fleet, fleet.slow_job("web1", sleep=0, mark=off))
    assert fleet.marked("web1") == ["+1d", "-1d"]
    fleet.clocks.clear()
    fleet.end("web1")
    fleet.end("controller")
    fleet.clocks["controller"] = clock("+1d")
    fleet.start_controller()
    fleet.run_agent("web1")
    ping(fleet, "web1")
    fleet.end("controller")
    fleet.clocks.clear()  # it is corrected
    fleet.start_controller()
    ping(fleet, "web1")


def test_a_return_of_100_megabytes_is_answered_with_its_size_and_fills_no_memory(fleet: FaultFleet) -> None:
    before = resident(fleet.pid("controller")), resident(fleet.pid("web1"))
    large = fleet.base / "large"
    large.write_bytes(b"x" * (100 * MIB))
    jid = submit(fleet, "file.read", "web1", args=[str(large)])

    def ended() -> bool:
        with fleet.client() as client:
            return client.jobs.get(jid)["ended"] is not None

    wait_until(ended, "the job does not end")
    after = resident(fleet.pid("controller")), resident(fleet.pid("web1"))
    assert after[0] - before[0] < 200 * MIB and after[1] - before[1] < 64 * MIB
    with fleet.client() as client:
        [row] = client.jobs.targets(jid)
        [found] = client.jobs.returns(jid)
    assert row["status"] in ("returned", "failed")
    assert "too large" in str(row["why"]) + str(found)[:2000], (row, str(found)[:500])
    ping(fleet, "web1")
