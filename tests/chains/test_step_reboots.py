"""Commands of a chain that ask for a reboot, and reboots of a chain that are called off."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from tests.chains.machine import DEAD, Bench
from tests.chains.test_drive import SAY, _bench

from saltern.chains.statuses import Leg

TWICE = "test -e BASE/half || { touch BASE/half; echo half $(cat BASE/boot) >> BASE/log; exit 194; }"
WHOLE = "echo whole $(cat BASE/boot) >> BASE/log"
LATER = "reboot: {notice: 600}"


def test_exit_code_194_reboots_and_runs_the_same_action_again(tmp_path: Path) -> None:
    bench = _bench(tmp_path, f"id: a, command: {{run: '{TWICE}; {WHOLE}'}}", f"id: b, {SAY % 'b'}")
    assert bench.chain("run", str(bench.file)).code == 6
    assert bench.log() == ["half 1"]
    assert bench.statuses() == {"a": "not run", "b": "not run"}
    bench.to_the_end()
    assert bench.log() == ["half 1", "whole 2", "b"]
    assert bench.statuses() == {"a": "succeeded", "b": "succeeded"}


def test_exit_code_195_reboots_and_goes_on_with_the_next_action(tmp_path: Path) -> None:
    ask = "echo a $(cat BASE/boot) >> BASE/log; exit 195"
    then = "echo b $(cat BASE/boot) >> BASE/log"
    bench = _bench(tmp_path, f"id: a, command: {{run: '{ask}'}}", f"id: b, command: {{run: '{then}'}}")
    assert bench.chain("run", str(bench.file)).code == 6
    bench.to_the_end()
    assert bench.log() == ["a 1", "b 2"]
    assert bench.statuses() == {"a": "succeeded", "b": "succeeded"}


def test_an_action_that_asks_for_ever_fails(tmp_path: Path) -> None:
    bench = _bench(tmp_path, "id: a, command: {run: exit 194}", f"id: b, {SAY % 'b'}")
    bench.chain("run", str(bench.file))
    bench.to_the_end()
    assert bench.statuses() == {"a": "failed", "b": "not run"}
    assert bench.boots() == 6


def test_a_script_asks_in_the_same_way(tmp_path: Path) -> None:
    bench = _bench(tmp_path, "id: a, script: {source: 'salt://ask.sh'}", f"id: b, {SAY % 'b'}")
    bench.place.write({"ask.sh": "#!/bin/sh\nexit 195\n"})
    assert bench.chain("run", str(bench.file)).code == 6
    bench.to_the_end()
    assert bench.statuses() == {"a": "succeeded", "b": "succeeded"}


def cancelled(bench: Bench, status: str) -> str:
    """The comment on the reboot of a leg that is cancelled while it waits for it; what becomes of it."""
    assert bench.chain("run", str(bench.file)).code == 6
    done = bench.chain("cancel", "--reason", "not today")
    assert done.code == 0, done.err
    known = bench.leg()
    assert known is not None
    assert known.state.status is Leg.CANCELLED
    assert bench.statuses() == {"a": "succeeded", "r": status, "b": "cancelled"}
    return known.state.steps["r"].comment


def test_cancel_calls_off_a_reboot_that_is_announced(tmp_path: Path) -> None:
    """4.13, item 22."""
    bench = _bench(tmp_path, f"id: a, {SAY % 'a'}", f"id: r, {LATER}", f"id: b, {SAY % 'b'}")
    assert cancelled(bench, "cancelled") == "its reboot is cancelled"
    assert not bench.goes_down()
    assert bench.log() == ["a"]


def test_cancel_says_so_when_a_reboot_cannot_be_called_off(tmp_path: Path) -> None:
    bench = _bench(tmp_path, f"id: a, {SAY % 'a'}", "id: r, reboot: {}", f"id: b, {SAY % 'b'}")
    assert "cannot be cancelled: nothing is scheduled" in cancelled(bench, "indeterminate")
    assert bench.goes_down()
    assert bench.chain("resume").out == ""
    assert bench.log() == ["a"]


def test_cancel_reaches_a_process_that_waits_for_the_machine_to_go_down(tmp_path: Path) -> None:
    bench = _bench(tmp_path, f"id: a, {SAY % 'a'}", f"id: r, {LATER}", f"id: b, {SAY % 'b'}")
    bench.chain("run", str(bench.file))
    (bench.base / "real").touch()  # to wait takes its time
    process = bench.process("resume")
    while not (bench.base / "waits").exists():
        assert process.poll() is None
        time.sleep(0.02)
    bench.chain("cancel")
    assert process.wait(200) == 2
    assert bench.statuses() == {"a": "succeeded", "r": "cancelled", "b": "cancelled"}
    assert not (bench.base / "asked").exists()


def test_a_cancelled_reboot_can_be_retried(tmp_path: Path) -> None:
    bench = _bench(tmp_path, f"id: r, {LATER}", f"id: b, {SAY % 'b'}")
    bench.chain("run", str(bench.file))
    bench.chain("cancel")
    assert bench.chain("retry").code in (6, DEAD)
    bench.to_the_end()
    assert bench.boots() == 2
    assert bench.statuses() == {"r": "succeeded", "b": "succeeded"}


@pytest.mark.parametrize(
    ("killed", "status"), [("reboot.called-off", "indeterminate"), ("reboot.disarmed", "cancelled")]
)
def test_a_cancel_that_is_killed_in_the_middle_ends_the_leg_as_well(
    tmp_path: Path, killed: str, status: str
) -> None:
    """Between the two, nobody can know whether the machine is going down."""
    bench = _bench(tmp_path, f"id: a, {SAY % 'a'}", f"id: r, {LATER}", f"id: b, {SAY % 'b'}")
    bench.chain("run", str(bench.file))
    bench.chain("cancel", watch=lambda name: os._exit(DEAD) if name == killed else None)
    assert not (bench.base / "asked").exists()
    bench.to_the_end()
    assert bench.statuses() == {"a": "succeeded", "r": status, "b": "cancelled"}
    assert bench.boots() == 1
