"""An operator's words at any moment, what a chain does in the end, and programs that outlive their chain.

Items are those of the list of faults in the design of action chains.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.chains.machine import MEMORY, Bench

from saltern.chains import owner
from saltern.chains.compile import plan_for
from saltern.chains.decide import Begin, Finish, decide
from saltern.chains.document import read_chain
from saltern.chains.leg import fold
from saltern.chains.legs import Legs
from saltern.chains.statuses import Leg
from saltern.journal.form import Record
from saltern.journal.runs import Runs
from saltern.journal.store import Writer
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.runtime.recovery import MOST_RECOVERIES
from saltern.system import ledger
from saltern.system.mounts import is_in_memory

SAY = "command: {run: 'echo %s >> BASE/log'}"
LONG = "command: {run: 'touch BASE/on; echo long >> BASE/log; sleep %s; echo ended >> BASE/log'}"
GATED = LONG % "0.1; until test -e BASE/gate; do sleep 0.05; done"  # ends when `opened` has let it


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Where a sync costs nothing."""
    folder = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="saltern-control-", dir=folder) as base:
        yield Path(base)


def made(base: Path, *actions: str, more: str = "") -> Bench:
    rows = "".join(f"  - {{{action}}}\n" for action in actions)
    text = f"chain: c\n{more}actions:\n{rows}".replace("{", "{{").replace("}", "}}")
    return Bench(base, text.replace("BASE", str(base)))


def until(true: Callable[[], object], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.02)


def at_work(bench: Bench) -> subprocess.Popen[bytes]:
    """Running, in the middle of its long action."""
    process = bench.process("run", str(bench.file))
    until((bench.base / "on").exists)
    return process


def opened(bench: Bench) -> None:
    """Let the gated action come to its end."""
    (bench.base / "gate").touch()


def killed(bench: Bench) -> str:
    process = at_work(bench)
    process.kill()
    process.wait()
    return leg(bench)


def leg(bench: Bench) -> str:
    known = bench.leg()
    assert known is not None
    return known.id


def nothing_is_left(bench: Bench) -> None:
    """Item 58: no order, no program, no ledger, no lock."""
    legs, runs = Legs(bench.settings), Runs(bench.settings)
    assert not list(bench.base.glob("runs/chains/*.cancel"))
    assert not list(bench.base.glob("runs/chains/*.pause"))
    assert not list(bench.base.glob("runs/runs/*.kept"))
    assert (legs.lock.holder(), runs.lock.holder()) == ("", None)
    marked = subprocess.run(["pgrep", "-f", f"echo long >> {bench.base}"], capture_output=True)
    assert not marked.stdout


# -- programs that outlive their chain -------------------------------------------------------------------


@pytest.mark.parametrize("meanwhile", [True, False])
def test_item_7_an_action_that_ran_on_while_nobody_watched_has_its_result(
    tmp_path: Path, meanwhile: bool
) -> None:
    bench = made(tmp_path, f"id: a, {GATED}", f"id: b, {SAY % 'b'}")
    name = killed(bench)
    if meanwhile:
        (tmp_path / "gate").touch()
        until(lambda: not any(ledger.at_work(str(one)) for one in bench.base.glob("runs/runs/*.kept")))
        done = bench.chain("resume")
        assert done.code == 0, done.err
        assert "still running" not in done.err
    else:
        process = bench.process("resume", name, stderr=subprocess.PIPE)
        assert process.stderr is not None
        said = process.stderr.readline()
        assert b"still running" in said
        (tmp_path / "gate").touch()
        process.communicate(timeout=200)
        assert process.returncode == 0
    assert bench.log() == ["long", "ended", "b"]
    assert bench.statuses() == {"a": "succeeded", "b": "succeeded"}
    nothing_is_left(bench)


def test_status_tells_what_runs_without_its_process(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {GATED}", f"id: b, {SAY % 'b'}")
    name = killed(bench)
    shown = bench.chain("status", name).out
    (tmp_path / "gate").touch()
    assert "a           command    running" in shown
    assert "its programs still run" in shown
    bench.to_the_end()


def test_item_8_a_chain_that_is_asked_to_end_leaves_its_action_running(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {GATED}", f"id: b, {SAY % 'b'}")
    process = at_work(bench)
    process.send_signal(signal.SIGTERM)
    assert process.wait(200) == 130
    assert bench.log() == ["long"]
    opened(bench)
    bench.to_the_end()
    assert bench.log() == ["long", "ended", "b"]
    assert bench.statuses() == {"a": "succeeded", "b": "succeeded"}


def test_another_run_waits_for_a_program_that_was_left(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {GATED}")
    killed(bench)
    bench.place.write({"x.sls": "x: {test.nop: []}"})
    done = bench.place.run("apply", "x", "--queue", "0")
    opened(bench)
    assert done.code == 1
    assert "is still running on this machine" in done.err
    bench.to_the_end()


def test_a_command_with_verify_is_asked_whether_it_is_done(tmp_path: Path) -> None:
    kill = 'kill -9 $(cut -d" " -f4 /proc/$PPID/stat) $PPID'
    text = f"echo %s >> BASE/log; test -e BASE/mark || {{ touch BASE/mark; {kill}; }}"
    for word, probe, log in (("done", "true", ["x"]), ("not", "false", ["x", "x"])):
        base = tmp_path / word
        base.mkdir()
        bench = made(base, f"id: a, command: {{run: '{text % 'x'}', verify: '{probe}'}}")
        bench.process("run", str(bench.file)).wait()
        bench.to_the_end()
        assert bench.statuses() == {"a": "succeeded"}
        assert bench.log() == log


def test_a_command_finds_the_same_token_in_every_attempt(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: a, command: {run: 'echo $SALTERN_TOKEN >> BASE/log; test -e BASE/mended'}")
    bench.chain("run", str(bench.file))
    (tmp_path / "mended").touch()
    bench.chain("retry")
    assert bench.log() == [f"{leg(bench)}.a"] * 2


# -- item 12: it breaks again and again ------------------------------------------------------------------


def test_item_12_a_leg_that_breaks_again_and_again_is_left_alone(tmp_path: Path) -> None:
    """The machine goes down in the middle of the same action, at every boot."""
    bench = made(tmp_path, f"id: a, {SAY % 'a'}", "id: w, wait: {seconds: 30}", f"id: b, {SAY % 'b'}")

    def dies(name: str) -> None:
        if name == "state.call" and bench.log():
            os._exit(137)

    for _ in range(MOST_RECOVERIES + 2):
        known = bench.leg()
        bench.chain(*(("resume",) if known else ("run", str(bench.file))), watch=dies)
    known = bench.leg()
    assert known is not None
    assert known.state.status is Leg.INDETERMINATE
    assert known.state.quarantined
    assert bench.log() == ["a"]
    assert "in quarantine" in bench.chain("retry").err
    assert "it broke repeatedly" in bench.chain("status", known.id).out
    assert bench.chain("release").code == 0
    bench.file.write_text(bench.file.read_text().replace("30", "0"))  # item 53: a run has its own text
    process = bench.process("retry")
    until(lambda: Runs(bench.settings).lock.holder() is not None)
    assert "ends" in bench.chain("cancel", "--now").err
    process.wait(200)
    assert bench.statuses() == {"a": "succeeded", "w": "cancelled", "b": "cancelled"}
    nothing_is_left(bench)


# -- cancel, pause, retry, skip, done --------------------------------------------------------------------


def test_item_44_hard_cancel_stops_what_runs(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {LONG % 60}", f"id: b, {SAY % 'b'}", more="finally: [{id: f, SAY}]\n")
    bench.file.write_text(bench.file.read_text().replace("SAY", SAY.replace("BASE", str(tmp_path)) % "f"))
    process = at_work(bench)
    assert "as soon as the running action has stopped" in bench.chain("cancel", "--now").err
    assert process.wait(200) == 2
    assert bench.statuses() == {"a": "indeterminate", "b": "cancelled", "f": "cancelled"}
    assert bench.log() == ["long"]
    nothing_is_left(bench)


def test_item_44_hard_cancel_stops_what_runs_without_its_process(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {LONG % 60}", f"id: b, {SAY % 'b'}")
    killed(bench)
    done = bench.chain("cancel", "--now", "--reason", "enough")
    assert done.code == 0, done.err
    assert bench.statuses() == {"a": "indeterminate", "b": "cancelled"}
    nothing_is_left(bench)


def test_item_44_soft_cancel_of_a_broken_leg_waits_for_what_runs_and_knows_its_result(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {GATED}", f"id: b, {SAY % 'b'}")
    name = killed(bench)
    process = bench.process("cancel", stderr=subprocess.PIPE)
    until(lambda: Legs(bench.settings).orders.reason(name, "cancel") or process.poll() is not None)
    assert process.poll() is None, "it waits for what runs"
    opened(bench)
    process.communicate(timeout=200)
    assert process.returncode == 0
    assert bench.statuses() == {"a": "succeeded", "b": "cancelled"}
    assert bench.log() == ["long", "ended"]
    nothing_is_left(bench)


def test_item_44_a_pause_and_a_resume(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {GATED}", f"id: b, {SAY % 'b'}")
    process = at_work(bench)
    assert "pauses before its next action" in bench.chain("pause").err
    opened(bench)
    assert process.wait(200) == 2
    assert bench.statuses()["b"] == "not run"
    shown = bench.chain("status", leg(bench)).out
    assert "paused" in shown
    assert "it waits: paused by an operator" in shown
    assert bench.chain("resume").code == 0
    assert bench.log() == ["long", "ended", "b"]
    nothing_is_left(bench)


def test_item_44_cancel_wins_against_a_pause(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {GATED}", f"id: b, {SAY % 'b'}")
    process = at_work(bench)
    bench.chain("pause")
    bench.chain("cancel")
    opened(bench)
    process.wait(200)
    assert bench.statuses() == {"a": "succeeded", "b": "cancelled"}
    nothing_is_left(bench)


def test_item_44_an_order_to_a_leg_that_is_over_is_refused(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {SAY % 'a'}")
    bench.chain("run", str(bench.file))
    for words in (("cancel",), ("pause",), ("resume", leg(bench)), ("skip", "a"), ("release",)):
        done = bench.chain(*words)
        assert done.code == 1, words
        assert done.err
    nothing_is_left(bench)


def test_a_paused_leg_can_be_cancelled(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: a, command: {run: 'false'}, on_failure: pause", f"id: b, {SAY % 'b'}")
    assert bench.chain("run", str(bench.file)).code == 2
    assert bench.chain("cancel").code == 0
    assert bench.statuses() == {"a": "failed", "b": "cancelled"}


def test_done_needs_a_reason_and_lets_the_chain_go_on(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: a, command: {run: 'false'}, on_failure: pause", f"id: b, {SAY % 'b'}")
    done = bench.chain("run", str(bench.file))
    assert done.code == 2
    assert "a has failed: retry it, skip it or declare it done" in done.out
    assert "--reason" in bench.chain("done", "a").err
    assert "marked as done by an operator: by hand" in bench.chain("done", "a", "--reason", "by hand").out
    assert bench.chain("resume").code == 0
    assert bench.statuses() == {"a": "succeeded", "b": "succeeded"}


def test_item_46_a_retry_begins_at_each_action_that_failed(tmp_path: Path) -> None:
    names = ["a", "b", "c", "d"]
    rows = [f"id: {name}, command: {{run: 'echo {name} >> BASE/log; test -e BASE/{name}'}}" for name in names]
    bench = made(tmp_path, *rows)
    bench.chain("run", str(bench.file))
    for name in names:
        assert bench.statuses()[name] == "failed"
        (tmp_path / name).touch()
        bench.chain("retry")
    assert bench.log() == ["a", "a", "b", "b", "c", "c", "d", "d"]
    assert set(bench.statuses().values()) == {"succeeded"}


# -- the end ---------------------------------------------------------------------------------------------


def finals(base: Path, first: str, always: str = "") -> Bench:
    last = f"finally:\n  - {{id: f, {SAY % 'f'}}}\n  - {{id: g, {SAY % 'g'}{always}}}\n"
    return made(base, first, f"id: b, {SAY % 'b'}", more=last)


@pytest.mark.parametrize(
    ("first", "status"),
    [
        ("id: a, command: {run: 'true'}", "succeeded"),
        ("id: a, command: {run: 'false'}", "failed"),
        ("id: a, command: {run: sleep 20, timeout: 0.2}", "timed out"),
    ],
)
def test_item_47_finalizers_run_whatever_came_before(tmp_path: Path, first: str, status: str) -> None:
    bench = finals(tmp_path, first)
    bench.chain("run", str(bench.file))
    assert bench.statuses()["a"] == status
    assert bench.log()[-2:] == ["f", "g"]
    nothing_is_left(bench)


def test_item_47_finalizers_run_when_it_is_cancelled(tmp_path: Path) -> None:
    bench = finals(tmp_path, f"id: a, {GATED}")
    process = at_work(bench)
    bench.chain("cancel")
    opened(bench)
    process.wait(200)
    assert bench.statuses() == {"a": "succeeded", "b": "cancelled", "f": "succeeded", "g": "succeeded"}
    assert bench.leg().state.status is Leg.CANCELLED  # type: ignore[union-attr]


def test_item_47_behind_what_nobody_knows_only_those_run_that_say_always(tmp_path: Path) -> None:
    bench = finals(tmp_path, f"id: a, {LONG % 60}", ", always: true")
    process = at_work(bench)
    bench.chain("cancel", "--now")
    process.wait(200)
    assert bench.log() == ["long", "g"]


def test_a_retry_runs_the_finalizers_once_more(tmp_path: Path) -> None:
    bench = finals(tmp_path, "id: a, command: {run: test -e BASE/mended}")
    bench.chain("run", str(bench.file))
    (tmp_path / "mended").touch()
    assert bench.chain("retry").code == 0
    assert bench.log() == ["f", "g", "b", "f", "g"]


def test_a_finalizer_that_fails_is_a_failure_of_the_chain(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {SAY % 'a'}", more="finally:\n  - {command: {run: 'false'}}\n")
    assert bench.chain("run", str(bench.file)).code == 2
    assert bench.statuses() == {"a": "succeeded", "finally-1": "failed"}


def test_a_reboot_cannot_be_a_finalizer(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {SAY % 'a'}", more="finally:\n  - {reboot: {}}\n")
    done = bench.chain("run", str(bench.file))
    assert done.code == 3
    assert "'finally' cannot have a reboot" in done.err


def test_item_13_a_deadline_counts_the_ticks_of_the_machine_and_no_clock(tmp_path: Path) -> None:
    chain = read_chain(made(tmp_path, "wait: {seconds: 1}", more="deadline: 100\n").file.read_text(), "c")
    plan = plan_for(chain, "here")

    def told(*moments: tuple[str, float]) -> object:
        records = [
            Record(at, "begun" if at == 1 else "accepted", {"boot": boot, "tick": tick, "at": -1e9 * at})
            for at, (boot, tick) in enumerate(moments)
        ]
        return decide(fold(plan, records))

    assert isinstance(told(("x", 500.0), ("x", 599.0)), Begin)
    assert told(("x", 500.0), ("x", 600.0)) == Finish(Leg.EXPIRED)
    assert isinstance(told(("x", 500.0), ("x", 550.0), ("y", 20.0)), Begin), "down for a year, or a minute"
    assert told(("x", 500.0), ("x", 550.0), ("y", 50.0)) == Finish(Leg.EXPIRED)


def test_a_chain_out_of_time_begins_nothing_more(tmp_path: Path) -> None:
    first = "id: a, command: {run: sleep 0.4}, on_failure: continue"
    bench = made(tmp_path, first, "id: r, reboot: {}", f"id: b, {SAY % 'b'}", more="deadline: 0.3\n")
    bench.chain("run", str(bench.file))
    bench.goes_down()
    done = bench.chain("resume")
    assert done.code == 2
    assert bench.leg().state.status is Leg.EXPIRED  # type: ignore[union-attr]
    assert bench.log() == []


# -- the same request twice ------------------------------------------------------------------------------


def test_item_36_one_token_is_one_run(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {SAY % 'a'}")
    for _ in range(3):
        assert bench.chain("run", str(bench.file), "--token", "t1").code == 0
    assert bench.log() == ["a"]
    assert len(Legs(bench.settings).ids()) == 1
    bench.file.write_text(bench.file.read_text().replace("echo a", "echo b"))
    done = bench.chain("run", str(bench.file), "--token", "t1")
    assert done.code == 1
    assert "but another plan" in done.err
    assert bench.chain("run", str(bench.file), "--token", "t2").code == 0


def test_a_plan_has_one_hash_however_its_file_is_laid_out(tmp_path: Path) -> None:
    text = made(tmp_path, f"id: a, {SAY % 'a'}").file.read_text()
    plans = [plan_for(read_chain(one, "f"), "here") for one in (text, f"# a note\n{text}\n")]
    assert plans[0].sha256() == plans[1].sha256()
    assert plans[0].sha256() != plan_for(read_chain(text, "f"), "there").sha256()


# -- packages that saltern itself is of ------------------------------------------------------------------


def test_item_30_the_owner_of_a_file_is_asked_of_the_package_manager(tmp_path: Path) -> None:
    assert owner.owner("/usr/bin/dpkg") == "dpkg"
    assert owner.owner(str(tmp_path)) == ""


def test_item_30_packages_may_be_a_barrier_where_saltern_is_of_one(tmp_path: Path) -> None:
    rows = ("id: a, wait: {seconds: 0}", "id: p, packages: {install: [x]}", "id: b, wait: {seconds: 0}")
    chain = read_chain(made(tmp_path, *rows).file.read_text(), "c")
    assert [[one.id for one in segment.steps] for segment in plan_for(chain, "x", wary=True).segments] == [
        ["a", "p"],
        ["b"],
    ]
    assert len(plan_for(chain, "x").segments) == 1


def test_item_30_a_replaced_program_goes_on_as_what_it_was_replaced_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = made(tmp_path, "id: p, packages: {install: [dpkg]}", f"id: b, {SAY % 'b'}")
    stamps = iter(["old", "old", "new"])
    monkeypatch.setattr("saltern.chains.accept.owner", lambda: "saltern")
    monkeypatch.setattr("saltern.chains.segments.stamp", lambda: next(stamps))

    def begin_anew(name: str, _again: object) -> None:
        (tmp_path / "anew").write_text(name)
        os._exit(77)

    monkeypatch.setattr("saltern.chains.segments.begin_anew", begin_anew)
    assert bench.chain("run", str(bench.file)).code == 77
    assert (tmp_path / "anew").read_text() == leg(bench)
    assert bench.leg().state.status is Leg.UPDATING  # type: ignore[union-attr]
    monkeypatch.undo()
    assert bench.chain("resume").code == 0
    assert bench.log() == ["b"]


# -- the disk --------------------------------------------------------------------------------------------


def test_item_4_a_full_disk_has_room_for_how_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A leg whose journal cannot be written gets the reserve, and is over."""
    bench = made(tmp_path, f"id: a, {SAY % 'a'}")
    reserve = tmp_path / "runs/chains/reserve"

    class Full(Writer):
        def sync(self) -> None:
            if reserve.exists() and bench.log():
                raise OperationError(Diagnostic(code="journal-write", what="no room"))
            super().sync()

    monkeypatch.setattr("saltern.chains.legs.Writer", Full)
    monkeypatch.setattr("saltern.chains.reserve.Reserve.is_disk_full", lambda _: reserve.exists())
    done = bench.chain("run", str(bench.file))
    assert done.code == 0, done.err
    assert not reserve.exists()
    assert bench.statuses() == {"a": "succeeded"}


def test_item_5_a_chain_that_reboots_says_that_memory_forgets_it(tmp_path: Path) -> None:
    if not is_in_memory(str(tmp_path)):
        pytest.skip("no file system in memory")
    bench = made(tmp_path, f"id: a, {SAY % 'a'}", "id: r, reboot: {}")
    refused = bench.place.run("chain", "run", str(bench.file), env={"SALTERN_CHAINS_IN_MEMORY": "false"})
    assert (refused.code, "a reboot loses this chain" in refused.err) == (1, True)
    assert "[chain-in-memory]" in refused.err
    assert bench.leg() is None
    assert "a reboot loses this chain" in bench.chain("run", str(bench.file)).err


def test_a_chain_that_cannot_begin_is_not_accepted(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {SAY % 'a'}")
    done = bench.chain("run", str(bench.file), "--file-root", str(tmp_path / "nowhere"))
    assert done.code == 1
    assert bench.leg() is None


# -- reboots ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "order", [["r", "a"], ["a", "r"], ["r"], ["r", "s"], ["a", "r", "s", "b"]], ids="".join
)
def test_item_23_a_reboot_first_last_only_and_two_in_a_row(tmp_path: Path, order: list[str]) -> None:
    rows = [f"id: {name}, reboot: {{}}" if name in "rs" else f"id: {name}, {SAY % name}" for name in order]
    bench = made(tmp_path, *rows)
    known = bench.to_the_end()
    assert known.state.status is Leg.SUCCEEDED
    assert bench.boots() == 1 + len(set(order) & {"r", "s"})
    assert bench.log() == [name for name in order if name in "ab"]
    nothing_is_left(bench)


def test_item_18_a_boot_that_nobody_planned_is_no_end_of_a_leg_that_waits(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: a, command: {run: 'false'}, on_failure: pause", f"id: b, {SAY % 'b'}")
    bench.chain("run", str(bench.file))
    (tmp_path / "boot").write_text("5")
    bench.place.run("resume", "--boot")
    assert bench.leg().state.status is Leg.PAUSED  # type: ignore[union-attr]
    bench.chain("skip", "a")
    assert bench.chain("resume").code == 0
    assert bench.log() == ["b"]


def test_item_53_a_chain_whose_file_is_gone_goes_on(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: r, reboot: {}", f"id: b, {SAY % 'b'}")
    bench.chain("run", str(bench.file))
    bench.file.unlink()
    bench.goes_down()
    assert bench.chain("resume").code == 0
    assert bench.log() == ["b"]


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (("retry",), "has succeeded: nothing in it failed, so there is nothing to retry"),
        (("retry", "last"), "has succeeded: nothing in it failed, so there is nothing to retry"),
        (("skip", "a"), "has succeeded: no action is left to skip"),
        (("done", "a", "--reason", "seen"), "has succeeded: no action is left to declare done"),
        (("cancel",), "has succeeded: nothing is left to do"),
    ],
)
def test_orders_to_a_finished_chain_are_refused_in_plain_words(
    tmp_path: Path, order: tuple[str, ...], said: str
) -> None:
    bench = made(tmp_path, "id: a, command: 'true'")
    assert bench.chain("run", str(bench.file)).code == 0
    done = bench.chain(*order)
    assert done.code == 1
    assert said in done.err
    assert "to run the chain once more: `saltern chain run FILE`" in done.err
    assert "paused" not in done.err


def test_last_names_a_chain_that_was_run(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: a, command: 'true'")
    bench.chain("run", str(bench.file))
    assert bench.chain("status", "last").out == bench.chain("status", Legs(bench.settings).ids()[0]).out
