"""A run, and a leg of a chain, with reboots and an update, broken at every point of all their processes:
killed, or by a loss of power that leaves of the journals what it likes. They end as those do that nobody
breaks.

A spread of it here. ``SALTERN_FAULT_ALL=1``: each point in each way; ``SALTERN_FAULT_PAIRS`` and
``SALTERN_FAULT_CUTS``: so many pairs, so many writes that are cut at some byte.
"""

from __future__ import annotations

import os
import random

import pytest
from tests.fault import crossing_leg, crossing_run
from tests.fault.crossing_machine import Crash

ALL = bool(os.environ.get("SALTERN_FAULT_ALL"))
PAIRS = int(os.environ.get("SALTERN_FAULT_PAIRS", "4"))
CUTS = int(os.environ.get("SALTERN_FAULT_CUTS", "4"))
PARTS = 2
NEEDED = {
    "barrier.asked",
    "barrier.kept",
    "reboot.arming",
    "reboot.arm",
    "reboot.armed",
    "reboot.proven",
    "reboot.crossed",
    "update.arming",
    "update.marked",
    "update.watched",
    "update.switched",
    "update.proven",
    "update.crossed",
    "journal.saved",
    "journal.synced",
    "keeper.ask",
    "keeper.asked",
    "keeper.answered",
    "end",
}
OF_RUNS = {"frame.made", "rehearsed", "step.reported", "listener.reported"}
OF_LEGS = {f"chain.{one}" for one in ("accepted", "begun", "chunk", "left", "results", "finished")}
HALFWAY = 3  # the process in which a command is called again
parts = pytest.mark.parametrize("part", range(PARTS))
pytestmark = pytest.mark.timeout(7200 if ALL or PAIRS > 100 or CUTS > 100 else 120)


def test_both_pass_every_kind_of_point_and_of_barrier() -> None:
    run, leg = crossing_run.voyage()[0], crossing_leg.voyage()[0]
    assert {name for _, _, name in run.schedule} >= NEEDED | OF_RUNS
    assert {name for _, _, name in leg.schedule} >= NEEDED | OF_LEGS
    assert (run.boots, leg.boots) == (3, 3)
    assert (len(run.points), len(leg.points)) == (5, 5)


@parts
def test_a_run_that_is_broken_at_any_point_ends_as_if_nothing_had_happened(part: int) -> None:
    usual, _ = crossing_run.voyage()
    for process, crash in usual.singles(0 if ALL else 10)[part::PARTS]:
        crossing_run.proven(usual.broken(process, [crash]), [crash])


def test_a_command_that_goes_on_after_its_reboot_is_found_again() -> None:
    """Its first part, before the reboot, has ended with another result."""
    usual, _ = crossing_run.voyage()
    crash = Crash(usual.points[HALFWAY].index("keeper.asked"))
    crossing_run.proven(usual.broken(HALFWAY, [crash]), [crash])


@parts
def test_a_run_that_is_broken_twice_still_ends(part: int) -> None:
    usual, _ = crossing_run.voyage()
    for process, *crashes in usual.pairs(PAIRS // PARTS, random.Random(f"{part} {PAIRS}")):
        crossing_run.proven(usual.broken(process, crashes), crashes)


@parts
def test_a_write_of_a_run_that_is_cut_at_any_byte_guards_nothing_yet(part: int) -> None:
    usual, _ = crossing_run.voyage()
    for process, crash in usual.cuts(CUTS // PARTS, random.Random(f"{part} {CUTS}")):
        crossing_run.proven(usual.broken(process, [crash]), [crash])


@parts
def test_a_leg_that_is_broken_at_any_point_ends_as_if_nothing_had_happened(part: int) -> None:
    usual, _ = crossing_leg.voyage()
    for process, crash in usual.singles(0 if ALL else 10)[part::PARTS]:
        crossing_leg.proven(usual.broken(process, [crash]), [crash])


@parts
def test_a_leg_that_is_broken_twice_still_ends(part: int) -> None:
    usual, _ = crossing_leg.voyage()
    for process, *crashes in usual.pairs(PAIRS // PARTS, random.Random(f"{part} {PAIRS}")):
        crossing_leg.proven(usual.broken(process, crashes), crashes)
