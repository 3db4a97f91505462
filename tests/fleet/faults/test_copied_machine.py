"""A machine that was copied with its keys: two agents of one identity."""

from __future__ import annotations

import shutil

from tests.fleet.faults.kit import alarms, local_fleet, short_directory, wait_returned, wait_until


def test_a_copy_is_refused_and_reported_and_the_first_one_works_on() -> None:
    with short_directory() as directory, local_fleet(directory, "web1") as fleet:
        shutil.copytree(
            fleet.base / "web1", fleet.base / "copy", ignore=shutil.ignore_patterns("*.sock", "agent.lock")
        )
        fleet.run_agent("copy")
        wait_until(lambda: "refuses this agent" in fleet.said("copy"), "the copy is not refused")
        wait_until(lambda: "twin" in alarms(fleet, "web1"), "the copy is not reported")
        jid = fleet.slow_job("web1", sleep=0)
        wait_returned(fleet, jid)
        assert fleet.marked("web1") == ["x"]  # by one of the two
