"""Chains that are run: to their end, over reboots, with failures, and by an operator's word."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from tests.chains.machine import USUAL, Bench, Boots

from saltern import __version__
from saltern.chains.statuses import Leg
from saltern.journal.runs import Runs
from saltern.system import reboot


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def _bench(base: Path, *actions: str) -> Bench:
    rows = "".join(f"  - {{{action}}}\n" for action in actions).replace("{", "{{").replace("}", "}}")
    return Bench(base, f"chain: c\nactions:\n{rows}".replace("BASE", str(base)))


SAY = "command: {run: 'echo %s >> BASE/log'}"


def test_a_chain_runs_over_its_reboots(bench: Bench) -> None:
    first = bench.chain("run", str(bench.file))
    assert first.code == 6, first.err
    assert bench.statuses()["c"] == "not run"
    known = bench.leg()
    assert known is not None
    assert known.state.status is Leg.REBOOTING
    assert "rebooting" in first.out
    bench.to_the_end()
    assert bench.statuses() == USUAL
    assert bench.log() == ["a 1", "c 2", "d 2", "e 3"]
    assert bench.boots() == 3


def test_nothing_after_a_reboot_runs_before_it(bench: Bench) -> None:
    bench.chain("run", str(bench.file))
    (bench.base / "asked").unlink()
    (bench.base / "stubborn").touch()
    done = bench.chain("resume")
    assert done.code == 2
    assert bench.statuses()["r"] == "failed"
    assert bench.log() == ["a 1"]
    (row,) = [row for row in bench.shown()["steps"] if row["action"] == "c"]  # type: ignore[attr-defined]
    assert row["status"] == "not run"
    assert row["blocked_by"] == "r"


def test_what_never_ran_names_what_blocked_it(tmp_path: Path) -> None:
    bench = _bench(
        tmp_path, "id: a, command: {run: 'false'}", "id: b, wait: {seconds: 0}", f"id: c, {SAY % 'c'}"
    )
    done = bench.chain("run", str(bench.file))
    assert done.code == 2
    assert bench.statuses() == {"a": "failed", "b": "not run", "c": "not run"}
    assert done.out.count("blocked by a") == 2


def test_a_state_file_that_is_not_there_is_a_failed_action(tmp_path: Path) -> None:
    bench = _bench(tmp_path, "id: a, state: {sls: nowhere}", f"id: b, {SAY % 'b'}")
    done = bench.chain("run", str(bench.file))
    assert bench.statuses() == {"a": "failed", "b": "not run"}
    assert "no SLS is called 'nowhere'" in done.out


def test_a_failed_state_apply_is_a_failed_action(tmp_path: Path) -> None:
    bench = _bench(tmp_path, "id: a, state: {sls: bad}", f"id: b, {SAY % 'b'}")
    bench.place.write({"bad.sls": "x: {test.fail_without_changes: []}"})
    bench.chain("run", str(bench.file))
    assert bench.statuses() == {"a": "failed", "b": "not run"}


def test_a_command_that_takes_too_long_has_timed_out(tmp_path: Path) -> None:
    bench = _bench(tmp_path, "id: a, command: {run: sleep 20, timeout: 0.2}")
    bench.chain("run", str(bench.file))
    assert bench.statuses() == {"a": "timed out"}


def test_a_reboot_that_is_not_needed_is_skipped(tmp_path: Path) -> None:
    bench = _bench(tmp_path, "id: a, reboot: {when: needed}", "id: b, wait: {seconds: 0}")
    done = bench.chain("run", str(bench.file))
    if bench.goes_down():
        pytest.skip("this machine does need a reboot")
    assert done.code == 0, done.err
    assert bench.statuses() == {"a": "skipped", "b": "succeeded"}
    assert "succeeded with skips" in done.out


def test_retry_runs_only_what_is_not_done(tmp_path: Path) -> None:
    bench = _bench(
        tmp_path, f"id: a, {SAY % 'a'}", "id: b, command: {run: test -e BASE/mended}", f"id: c, {SAY % 'c'}"
    )
    assert bench.chain("run", str(bench.file)).code == 2
    (tmp_path / "mended").touch()
    known = bench.leg()
    assert known is not None
    done = bench.chain("retry", known.id)
    assert done.code == 0, done.err
    assert bench.log() == ["a", "c"]
    assert set(bench.statuses().values()) == {"succeeded"}
    refused = bench.chain("retry", known.id)
    assert refused.code == 1
    assert "nothing in it failed, so there is nothing to retry [chain-over]" in refused.err


def test_a_skipped_action_lets_the_chain_go_on(tmp_path: Path) -> None:
    bench = _bench(tmp_path, "id: a, command: {run: 'false'}", f"id: b, {SAY % 'b'}")
    bench.chain("run", str(bench.file))
    known = bench.leg()
    assert known is not None
    assert "paused" in bench.chain("skip", known.id, "a", "--reason", "not here").out
    done = bench.chain("resume", known.id)
    assert done.code == 0, done.err
    assert bench.statuses() == {"a": "skipped", "b": "succeeded"}
    assert bench.log() == ["b"]
    wrong = bench.chain("skip", known.id, "z")
    assert "has no action 'z'" in wrong.err


def test_a_leg_that_waits_for_its_reboot_can_be_cancelled(bench: Bench) -> None:
    bench.chain("run", str(bench.file))
    known = bench.leg()
    assert known is not None
    done = bench.chain("cancel", known.id, "--reason", "enough")
    assert done.code == 0, done.err
    done_before = {"a": "succeeded", "b": "succeeded", "r": "indeterminate"}  # it may still go down
    assert bench.statuses() == {**dict.fromkeys(USUAL, "cancelled"), **done_before}
    assert "nothing to resume" in bench.chain("resume").err
    assert "nothing to resume" in bench.place.run("resume").err


def test_a_leg_at_work_ends_before_its_next_action(tmp_path: Path) -> None:
    bench = _bench(tmp_path, "id: a, command: {run: 'touch BASE/on; sleep 1'}", f"id: b, {SAY % 'b'}")
    process = bench.process("run", str(bench.file))
    while not (tmp_path / "on").exists():
        time.sleep(0.02)
    known = bench.leg()
    assert known is not None
    assert "ends before its next action" in bench.chain("cancel", known.id).err
    assert process.wait(200) == 2
    assert bench.statuses() == {"a": "succeeded", "b": "cancelled"}
    assert bench.log() == []


def test_an_interrupt_leaves_a_leg_that_goes_on(tmp_path: Path) -> None:
    bench = _bench(tmp_path, f"id: a, {SAY % 'a'}", "id: w, wait: {seconds: 3}", f"id: b, {SAY % 'b'}")
    process = bench.process("run", str(bench.file))
    while not any(one.done for one in Runs(bench.settings).summaries()):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(200) == 130
    bench.to_the_end()
    assert bench.log() == ["a", "b"]


def test_a_second_chain_behind_one_that_waits_for_an_operator_is_refused(tmp_path: Path) -> None:
    bench = _bench(tmp_path, "id: a, command: {run: 'false'}, on_failure: pause")
    assert bench.chain("run", str(bench.file)).code == 2
    done = bench.chain("run", str(bench.file))
    assert done.code == 1
    assert "is not over, and a machine runs one chain at a time" in done.err


def test_a_chain_for_others_is_refused(tmp_path: Path) -> None:
    bench = _bench(tmp_path, "id: a, reboot: {}, targets: [elsewhere]")
    done = bench.chain("run", str(bench.file))
    assert done.code == 1
    assert "no action of the chain 'c' is for" in done.err
    assert bench.leg() is None


def test_a_file_that_is_not_there_is_told(bench: Bench) -> None:
    done = bench.chain("run", "nowhere.yaml")
    assert done.code == 1
    assert "the chain file 'nowhere.yaml' cannot be read: No such file or directory" in done.err


def test_an_update_to_what_runs_already_is_skipped(tmp_path: Path) -> None:
    bench = _bench(tmp_path, f"id: u, agent: {{version: '{__version__}'}}", f"id: b, {SAY % 'b'}")
    done = bench.chain("run", str(bench.file))
    assert done.code == 0, done.err
    assert bench.statuses() == {"u": "skipped", "b": "succeeded"}


def test_a_boot_goes_on_with_the_chain(bench: Bench) -> None:
    bench.chain("run", str(bench.file))
    for _ in range(2):
        bench.goes_down()
        reboot.use(Boots(bench.base))
        bench.place.run("resume", "--boot")
        reboot.use(None)
    assert bench.statuses() == USUAL
