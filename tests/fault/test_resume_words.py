"""A state that kills its own run: what its ``resume`` makes of it."""

from __future__ import annotations

import os
import pty

import pytest
from tests.e2e.command import forked
from tests.fault.machine import Machine, machine

# The first time it is run, it takes the engine with it, and the keeper that runs it for the engine.
MAIN = """
{% set at = pillar['at'] %}
deadly:
  cmd.run:
    - name: echo deadly >> {{ at }}/log; test -e {{ at }}/mark || { touch {{ at }}/mark; KILL; }
    {{ pillar.get('word', '') }}
after:
  cmd.run: [{name: echo after >> {{ at }}/log}, {require: [{cmd: deadly}]}]
beside:
  cmd.run: [{name: echo beside >> {{ at }}/log}]
"""
STEP = '{"name": "a", "result": %s, "changes": {}, "comment": "step"}'
PROGRAM = f"""#!/bin/sh
if test -e "$1"; then echo '{STEP % "true"}'; else touch "$1"; echo '{STEP % "false"}'; exit 1; fi
"""
RETRIED = """
many:
  exec.lines:
    - name: sh {{ pillar['at'] }}/program {{ pillar['at'] }}/tried
    - retry: {attempts: 3, interval: 0}
deadly:
  cmd.run:
    - name: test -e {{ pillar['at'] }}/mark || { touch {{ pillar['at'] }}/mark; KILL; }
    - resume: rerun
after:
  test.nop: [{require: [{exec: many}]}]
"""
KILL = "kill -9 $(cut -d' ' -f4 /proc/$PPID/stat) $PPID"
MAIN, RETRIED = MAIN.replace("KILL", KILL), RETRIED.replace("KILL", KILL)


def killed(one: Machine, word: str = "") -> None:
    given = f"{{at: {one.at}, word: '- resume: {word}'}}" if word else f"{{at: {one.at}}}"
    assert one.place.run("apply", "main", "--pillar", given).code == -9
    assert one.log() == {"deadly": 1}


@pytest.mark.parametrize(
    ("word", "result", "times", "after"),
    [
        ("", False, 1, 0),
        ("fail", False, 1, 0),
        ("ask", False, 1, 0),
        ("skip", True, 1, 1),
        ("rerun", True, 2, 1),
        ("nonsense", False, 1, 0),
    ],
)
def test_a_command_that_was_running(word: str, result: bool, times: int, after: int) -> None:
    with machine({"main.sls": MAIN}) as one:
        killed(one, word)
        answers = one.resume().answers()
        assert answers["deadly"]["result"] is result
        assert answers["deadly"].get("indeterminate", False) is (times == 1)
        log = one.log()
        assert (log["deadly"], log["after"], log["beside"]) == (times, after, 1)


@pytest.mark.parametrize("guard", ["creates: /nowhere", "unless: 'false'", "onlyif: 'true'"])
def test_a_command_with_a_condition_is_asked_again(guard: str) -> None:
    text = MAIN.replace("{{ pillar.get('word', '') }}", f"- {guard}")
    with machine({"main.sls": text}) as one:
        killed(one)
        assert one.resume().code == 0
        assert one.log() == {"deadly": 2, "after": 1, "beside": 1}


@pytest.mark.parametrize(
    ("answer", "times", "code"), [("what\nrer\n", 2, 0), ("s\n", 1, 0), ("fail\n", 1, 2)]
)
def test_whoever_sits_at_the_terminal_is_asked(answer: str, times: int, code: int) -> None:
    with machine({"main.sls": MAIN}) as one:
        killed(one, "ask")
        ours, theirs = pty.openpty()
        os.write(ours, answer.encode())
        process = one.place.start("resume", stdin=theirs, stderr=theirs)
        out, _ = process.communicate(timeout=200)
        os.close(theirs)
        told = os.read(ours, 10_000).decode()
        os.close(ours)
        assert "cmd.run 'deadly' was running when the run broke: rerun, skip or fail?" in told
        assert (process.returncode, one.log()["deadly"]) == (code, times), out


def test_the_steps_of_an_attempt_that_failed_count_for_nobody_after_a_resume() -> None:
    with machine({"main.sls": RETRIED}) as one:
        (one.at / "program").write_text(PROGRAM)
        assert one.place.run("apply", "main", "--pillar", f"{{at: {one.at}}}").code == -9
        done = one.resume()
        assert done.code == 0, done.out
        assert one.summaries()[0].status == "succeeded"
        assert len(done.json()["local"]) == 5


def test_what_is_shown_of_a_run_needs_no_file_that_it_came_from() -> None:
    with machine({"main.sls": MAIN}) as one:
        killed(one, "skip")
        (one.place.states / "main.sls").unlink()
        assert forked(["resume", "--out", "json"], one.base).code == 0
        assert one.log() == {"deadly": 1, "after": 1, "beside": 1}
