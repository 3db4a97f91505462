"""What users of chains on one machine have met: owners of open states, honest results, queues, drafts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import xml.etree.ElementTree as Xml
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chains.machine import MEMORY, Bench
from tests.chains.test_control import GATED, SAY, at_work, killed, leg, made, until

from saltern.chains.document import read_chain
from saltern.chains.draft import action_of, with_action
from saltern.chains.legs import Legs
from saltern.chains.main_line import main_line
from saltern.chains.statuses import Leg
from saltern.chains.targets import unmatched_actions
from saltern.language.late import escape_references, fill_references


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Where a sync costs nothing."""
    folder = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="saltern-in-use-", dir=folder) as base:
        yield Path(base)


def rows(bench: Bench) -> dict[str, dict[str, Any]]:
    steps: Any = bench.shown()["steps"]
    return {row["action"]: row for row in steps}


# -- owners of open states -----------------------------------------------------------------------------


def test_the_waiting_command_fails_a_reboot_that_does_not_happen(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: r, reboot: {start_deadline: 5}", f"id: b, {SAY % 'b'}")
    (tmp_path / "stubborn").touch()
    done = bench.chain("run", str(bench.file))
    assert done.code == 2, done
    assert bench.statuses() == {"r": "failed", "b": "not run"}
    assert "did not shut down within 5 seconds" in done.out


def test_a_command_that_is_ended_leaves_a_process_with_the_reboot(tmp_path: Path) -> None:
    """The real machine, whose reboot command does nothing."""
    bench = made(tmp_path, "id: r, reboot: {start_deadline: 4}", f"id: b, {SAY % 'b'}")
    bench.place.write({"etc/saltern.yaml": "reboot_command: ['true']\n"})
    process = bench.place.start("chain", "run", str(bench.file), stdout=subprocess.DEVNULL)
    try:
        assert process.stderr is not None
        while b"to shut down for a reboot" not in (line := process.stderr.readline()):
            assert line, "it ended before it waited"
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=100)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 6
    until(lambda: bench.statuses()["r"] == "failed")
    until(lambda: Legs(bench.settings).lock.holder() == "")
    assert rows(bench)["r"]["took"] > 2, "the time that it was waited for"


def test_while_the_machine_reboots_the_action_runs(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: r, reboot: {}", f"id: b, {SAY % 'b'}")
    done = bench.chain("run", str(bench.file))
    assert done.code == 6
    assert (bench.shown()["status"], rows(bench)["r"]["status"]) == ("rebooting", "running")
    assert "r           reboot     running" in done.out


def test_a_pause_during_a_reboot_is_answered_at_once_and_kept_by_the_boot(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: r, reboot: {}", f"id: b, {SAY % 'b'}")
    bench.chain("run", str(bench.file))
    done = bench.chain("pause")
    assert (done.code, "pauses before its next action" in done.err) == (0, True)
    bench.goes_down()
    from tests.chains.machine import Boots

    from saltern.system import reboot

    reboot.use(Boots(bench.base))
    try:
        bench.place.run("resume", "--boot")
    finally:
        reboot.use(None)
    assert bench.shown()["status"] == "paused"
    assert bench.statuses() == {"r": "succeeded", "b": "not run"}
    assert bench.chain("resume").code == 0
    assert bench.log() == ["b"]


def test_after_a_kill_the_status_is_not_running(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {GATED}", f"id: b, {SAY % 'b'}")
    name = killed(bench)
    assert bench.shown()["status"] == "broken"
    assert rows(bench)["a"]["status"] == "running"  # its program is still at work
    assert f"{name}  broken" in bench.chain("status").out
    assert f"{name}: chain c on" in bench.chain("status", name).out
    (tmp_path / "gate").touch()
    bench.to_the_end()


def test_an_action_that_died_with_its_process_is_not_running(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: a, wait: {seconds: 60}")
    process = bench.process("run", str(bench.file))
    until(lambda: bench.leg() is not None and rows(bench)["a"]["status"] == "running")
    process.kill()
    process.wait()
    assert (bench.shown()["status"], rows(bench)["a"]["status"]) == ("broken", "indeterminate")


# -- queue ---------------------------------------------------------------------------------------------


def test_a_second_chain_is_queued_and_runs_after_the_first(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {GATED}")
    (tmp_path / "real").touch()
    second = tmp_path / "second.yaml"
    second.write_text(f"chain: d\nactions:\n  - {{id: b, command: 'echo b >> {tmp_path}/log'}}\n")
    first = at_work(bench)
    other = bench.process("run", str(second))
    try:
        until(lambda: bench.leg() is not None and bench.leg().state.status is Leg.QUEUED)  # type: ignore[union-attr]
        assert bench.shown()["waits_for"].endswith(" to end")  # type: ignore[attr-defined]
        assert "queued" in bench.chain("status").out
        (tmp_path / "gate").touch()
        assert (first.wait(200), other.wait(200)) == (0, 0)
    finally:
        for process in (first, other):
            process.kill()
            process.wait()
    assert bench.log() == ["long", "ended", "b"]


@pytest.mark.parametrize("waiting", [True, False])
def test_a_queued_chain_can_be_cancelled(tmp_path: Path, waiting: bool) -> None:
    """By its process, or without one."""
    bench = made(tmp_path, f"id: a, {GATED}")
    (tmp_path / "real").touch()
    first = at_work(bench)
    other = bench.process("run", str(bench.file))
    try:
        until(lambda: bench.leg() is not None and bench.leg().state.status is Leg.QUEUED)  # type: ignore[union-attr]
        if not waiting:
            other.kill()
            other.wait()
        assert bench.chain("cancel").code == 0
        if waiting:
            assert other.wait(200) == 2
        assert bench.shown()["status"] == "cancelled"
        (tmp_path / "gate").touch()
        assert first.wait(200) == 0
    finally:
        for process in (first, other):
            process.kill()
            process.wait()
    assert bench.log() == ["long", "ended"]


def test_a_queued_chain_whose_time_is_over_expires(tmp_path: Path) -> None:
    bench = made(tmp_path, f"id: a, {GATED}")
    short = tmp_path / "short.yaml"
    short.write_text("chain: d\ndeadline: 3\nactions:\n  - {id: b, command: 'true'}\n")
    first = at_work(bench)
    try:
        assert bench.chain("run", str(short)).code == 2  # to wait costs no time here
        assert (bench.shown()["status"], bench.statuses()) == ("expired", {"b": "not run"})
        (tmp_path / "gate").touch()
        assert first.wait(200) == 0
    finally:
        first.kill()
        first.wait()


# -- results -------------------------------------------------------------------------------------------


def test_changed_is_the_truth(tmp_path: Path) -> None:
    bench = made(
        tmp_path,
        "id: failed, command: {run: 'touch BASE/x; exit 3'}, on_failure: continue",
        "id: wait, wait: {seconds: 0}",
        "id: health, health: {command: 'true'}",
        "id: same, state: {sls: same}",
        "id: other, state: {sls: other}",
        "id: half, state: {sls: half}, on_failure: continue",
        "id: file, file: {path: 'BASE/y', contents: z}",
    )
    half = "x: {test.succeed_with_changes: []}\ny: {test.fail_without_changes: []}"
    bench.place.write(
        {
            "same.sls": "x: {test.nop: []}",
            "other.sls": "x: {test.succeed_with_changes: []}",
            "half.sls": half,
        }
    )
    bench.chain("run", str(bench.file))
    found = {name: row["changed"] for name, row in rows(bench).items()}
    changed = {"failed", "other", "half", "file"}
    assert found == {name: name in changed for name in found}


def test_each_action_has_its_output_times_and_run(tmp_path: Path) -> None:
    bench = made(
        tmp_path, "id: a, command: {run: 'echo out; echo err >&2; sleep 0.2; exit 3'}", "id: b, wait: 0"
    )
    done = bench.chain("run", str(bench.file), "--out", "json")
    row, late = json.loads(done.out)["local"]["steps"]
    assert row["output"] == {"stdout": "out", "stderr": "err"}
    assert (row["exit_code"], row["status"]) == (3, "failed")
    assert row["took"] >= 0.2
    assert row["started"] > 1_700_000_000
    assert row["run"] in bench.place.run("runs").out
    assert (late["run"], late["blocked_by"]) == ("", "a")


def test_lines_of_json_come_as_actions_begin_and_end(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: a, command: {run: 'echo one'}", f"id: b, {GATED}")
    process = bench.place.start("chain", "run", str(bench.file), "--out", "jsonl", stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        live = [json.loads(process.stdout.readline()) for _ in range(3)]
        (tmp_path / "gate").touch()
        rest = [json.loads(line) for line in process.communicate(timeout=200)[0].splitlines()]
    finally:
        process.kill()
        process.wait()
    assert [(line["event"], line["action"]) for line in live] == [
        ("action-started", "a"),
        ("action-finished", "a"),
        ("action-started", "b"),
    ]
    assert live[1]["output"] == {"stdout": "one"}
    assert [line["event"] for line in rest] == ["action-finished", "action", "action", "chain"]
    assert rest[-1]["status"] == "succeeded"


def test_lines_of_json_do_not_begin_an_action_that_is_blocked(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: a, command: 'false'", "id: b, wait: 0")
    lines = [
        json.loads(line) for line in bench.chain("run", str(bench.file), "--out", "jsonl").out.splitlines()
    ]
    assert [(line["event"], line.get("action"), line["status"]) for line in lines if "status" in line] == [
        ("action-finished", "a", "failed"),
        ("action-finished", "b", "not run"),
        ("action", "a", "failed"),
        ("action", "b", "not run"),
        ("chain", None, "failed"),
    ]
    assert [line["action"] for line in lines if line["event"] == "action-started"] == ["a"]


def test_lines_of_json_do_not_end_an_action_that_waits_for_a_reboot(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: r, reboot: {start_deadline: 3}", f"id: b, {SAY % 'b'}")
    (tmp_path / "stubborn").touch()
    done = bench.chain("run", str(bench.file), "--out", "jsonl")
    lines = [json.loads(line) for line in done.out.splitlines()]
    ended = [(line["action"], line["status"]) for line in lines if line["event"] == "action-finished"]
    assert ended == [("r", "failed")], done.out


def test_junit_has_a_case_for_each_action(tmp_path: Path) -> None:
    bench = made(
        tmp_path,
        "id: a, command: {run: 'echo \"<&>\"'}",
        "id: b, command: 'echo no >&2; false'",
        "id: c, wait: 0",
    )
    done = bench.chain("run", str(bench.file), "--out", "junit")
    (suite,) = Xml.fromstring(done.out)
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    cases = {case.get("name"): case for case in suite}
    failure, skipped = cases["b"].find("failure"), cases["c"].find("skipped")
    assert failure is not None
    assert skipped is not None
    assert (failure.get("message"), skipped.get("message")) == ("exit code 1: no", "blocked by b")
    shown = bench.chain("status", "last", "--out", "junit")
    assert shown.out == done.out


def test_the_table_shows_the_line_that_matters(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: a, command: {run: 'echo begin\necho why >&2\nexit 7'}")
    bench.file.write_text(
        "chain: c\nactions:\n  - id: a\n    command: |\n      set -e\n      echo why >&2\n      exit 7\n"
    )
    assert "failed         changed  exit code 7: why" in bench.chain("run", str(bench.file)).out


def test_of_a_state_file_that_failed_the_table_names_the_state_and_what_its_program_said(
    tmp_path: Path,
) -> None:
    bench = made(tmp_path, "id: a, state: web")
    roots = tmp_path / "roots"
    roots.mkdir()
    states = (
        "fine: {test.nop: []}\nbroken:\n  cmd.run:\n    - name: 'echo one; echo disk is full >&2; exit 4'\n"
    )
    (roots / "web.sls").write_text(states)
    said = bench.chain("run", str(bench.file), "--file-root", str(roots)).out
    assert "failed         changed  'state.apply' failed: broken: exit code 4: disk is full" in said


@pytest.mark.parametrize(
    ("comment", "failed", "line"),
    [
        ("one\ntwo", False, "one"),
        ("a long tale\nE: Unable to locate package x\nmore", True, "E: Unable to locate package x"),
        (
            "The following packages are installed:\nnginx",
            False,
            "The following packages are installed: nginx",
        ),
        ("", True, ""),
        ("only this", True, "only this"),
    ],
)
def test_the_main_line(comment: str, failed: bool, line: str) -> None:
    assert main_line(comment, failed=failed) == line


def test_hints_name_retry_with_the_run(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: a, command: {run: 'false'}")
    done = bench.chain("run", str(bench.file))
    assert f"saltern chain retry {leg(bench)}" in done.out
    assert f"saltern chain retry {leg(bench)}" in bench.chain("resume", leg(bench)).err
    paused = made(Path(tempfile.mkdtemp(dir=tmp_path)), "id: a, command: {run: 'false'}, on_failure: pause")
    done = paused.chain("run", str(paused.file))
    assert f"saltern chain retry {leg(paused)}" in done.out


# -- files ---------------------------------------------------------------------------------------------


def test_systems_and_targets_combine() -> None:
    text = "chain: c\nsystems: [web1, web2, db1]\nactions:\n  - {id: a, wait: 0, targets: ['web*', db1]}\n"
    more = "  - {id: b, wait: 0, targets: ['*1', elsewhere]}\n  - {id: c, wait: 0}\n"
    chain = read_chain(text + more, "c")
    assert [
        [one.id for one in chain.actions if one.meant_for(system)] for system in ("web1", "web2", "db1")
    ] == [
        ["a", "b", "c"],
        ["a", "c"],
        ["a", "b", "c"],
    ]
    assert not any(one.meant_for("elsewhere") for one in chain.actions)
    assert chain.systems() == ["web1", "web2", "db1"]
    assert unmatched_actions(chain) == [("b", "elsewhere")]


def test_a_target_that_means_no_system_is_reported(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: a, wait: 0, targets: ['wbe*']", more="systems: [web1]\n")
    for words in (("check",), ("render",), ("to-sls", "--system", "web1"), ("run", "--system", "web1")):
        done = bench.chain(words[0], str(bench.file), *words[1:])
        assert "action a: no system of the chain 'c' matches 'wbe*'" in done.err, words


LOSSES = """\
chain: c
deadline: 60
inputs: {key: {secret: true, required: true}}
actions:
  - {id: a, command: {run: 'echo ${input:key}', verify: 'true'}, retry: {attempts: 2, backoff: 2}}
  - {id: b, wait: 0, on_failure: pause, resume: skip}
  - {id: c, reboot: {when: needed, notice: 60, checks: ['true'], start_deadline: 60}}
  - {id: d, transaction: {run: 'true', timeout: 5, env: {A: b}}}
  - {id: e, agent: {version: '2', slots: /opt/saltern}}
finally: [{wait: 0}]
"""


def test_rendered_segments_say_what_a_real_salt_does_not_do_and_keep_secrets(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: a, wait: 0")
    bench.file.write_text(LOSSES)
    words = (str(bench.file), "--system", "vm", "--input", "key=hunter22")
    lost = "finally, deadline, verify of action a, backoff of action a, on_failure: pause of action b, "
    lost += "resume of action b, start_deadline of action c, checks of action c, when: needed of action c, "
    lost += "env of action d, timeout of action d, slots of action e"
    shown = bench.chain("render", *words)
    assert f"left out, since only saltern does it: {lost}\n" in shown.err
    for text in (shown.out, bench.chain("to-sls", *words).out):
        assert "echo ***" in text
        assert "hunter22" not in text
    written = bench.chain("render", *words, "--export", str(tmp_path / "x"))
    chunk = tmp_path / "x" / "actionchains" / "actionchain_c_vm_1.sls"
    assert "hunter22" in chunk.read_text()
    assert chunk.stat().st_mode & 0o777 == 0o600
    assert f"{chunk} holds a secret input" in written.err
    assert (tmp_path / "x" / "_modules" / "actionchains.py").stat().st_mode & 0o777 == 0o644


def test_to_sls_for_a_machine_that_is_no_target_says_so(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: a, wait: 0, targets: [web1]")
    done = bench.chain("to-sls", str(bench.file), "--system", "db1")
    assert (done.code, done.out) == (1, "")
    assert "is for 'db1' [chain-empty]" in done.err


def test_a_command_keeps_what_looks_like_a_late_value(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: a, command: {run: 'delayed=x; echo ''$${delayed:a.b}'' ${delayed:-no}'}")
    bench.file.write_text(
        "chain: c\nactions:\n  - {id: a, command: \"echo '${delayed:a.b} ${delayed:-no}'\"}\n"
    )
    bench.chain("run", str(bench.file))
    assert rows(bench)["a"]["output"] == {"stdout": "${delayed:a.b} ${delayed:-no}"}


@given(st.lists(st.sampled_from(["$", "{", "}", "delayed:", "${delayed:", "a.b", "vm", "-x", "2", " ", ":"])))
def test_what_is_escaped_is_filled_with_itself(parts: list[str]) -> None:
    text = "".join(parts)

    def never(reference: object) -> object:
        raise AssertionError(f"{reference} is no reference of {text!r}")

    assert fill_references(escape_references(text), never) == text


def test_a_test_run_says_what_would_be_done_and_does_nothing(tmp_path: Path) -> None:
    bench = made(
        tmp_path,
        f"id: a, {SAY % 'a'}",
        "id: s, state: {sls: s}",
        "id: f, file: {path: 'BASE/f', contents: x}",
        "id: r, reboot: {}",
        "id: wrong, state: {sls: nowhere}",
    )
    bench.place.write({"s.sls": "x: {test.nop: []}"})
    done = bench.chain("run", str(bench.file), "--test")
    assert done.code == 2
    assert done.out.startswith("test: chain c on ")
    data = json.loads(bench.chain("run", str(bench.file), "--test", "--out", "json").out)["local"]
    assert data["test"] is True
    assert {row["action"]: row["would"] for row in data["steps"]} == {
        "a": "change",
        "s": "",
        "f": "change",
        "r": "reboot",
        "wrong": "fail",
    }
    assert (bench.leg(), bench.log(), (tmp_path / "f").exists()) == (None, [], False)
    assert not (tmp_path / "asked").exists()


# -- drafts --------------------------------------------------------------------------------------------


def test_actions_are_added_to_a_draft(tmp_path: Path) -> None:
    bench = made(tmp_path, "id: a, wait: 0")
    file = tmp_path / "new one.yaml"
    for words in (
        ("packages", "nginx", "curl"),
        ("command", "uptime | wc", "--action", "up", "--target", "web*", "--on-failure", "continue"),
        ("reboot", "when=needed", "notice=5"),
        ("wait", "30"),
    ):
        done = bench.chain("add", str(file), *words)
        assert done.code == 0, done
    chain = read_chain(file.read_text(), "f")
    assert chain.name == "new-one"
    assert [(one.id, one.kind) for one in chain.actions] == [
        ("1", "packages"),
        ("up", "command"),
        ("3", "reboot"),
        ("4", "wait"),
    ]
    assert chain.actions[1].targets == ("web*",)
    before = file.read_text()
    assert "no action is called 'rebot'; did you mean 'reboot'?" in " ".join(
        bench.chain("add", str(file), "rebot").err.split()
    ).replace("[chain-file] fix: ", "; ").replace(" ; ", "; ")
    assert bench.chain("add", str(file), "wait", "soon").code == 3
    assert file.read_text() == before, "a file that would be wrong is left as it was"


@given(
    comments=st.lists(
        st.sampled_from(["# note\n", "\n", "finally: [{wait: 0}]\n", "description: x\n"]), unique=True
    ),
    kinds=st.lists(st.sampled_from(["wait 1", "command ls", "reboot", "state a b"]), min_size=1, max_size=4),
)
def test_what_stands_around_the_actions_stays(comments: list[str], kinds: list[str]) -> None:
    text = "chain: c # mine\nactions:\n  - {id: first, wait: 0} # one\n" + "".join(comments)
    first = read_chain(text, "c")
    for kind in kinds:
        word, *rest = kind.split()
        text = with_action(text, action_of(word, rest, {}), "c")
    chain = read_chain(text, "c")
    assert [one.kind for one in chain.actions] == ["wait", *(kind.split()[0] for kind in kinds)]
    assert (chain.finalizers, chain.description) == (first.finalizers, first.description)
    assert all(line in text for line in comments)
