"""``apply --failed-from``: what failed or was not reached, and what needs that; nothing else is done."""

from __future__ import annotations

import pytest
from tests.e2e.command import is_told_well
from tests.fault.machine import DEAD, Machine, dies_at, machine

THING = """
import os
def wants(name, file, **kwargs):
    there = os.path.exists(file)
    return {"name": name, "result": there, "changes": {"got": file} if there else {}, "comment": str(there)}
def mod_watch(name, **kwargs):
    return {"name": name, "result": True, "changes": {"signal": True}, "comment": "signalled"}
"""
MAIN = """
{% set at = pillar['at'] %}
first:
  cmd.run: [{name: echo first >> {{ at }}/log}]
wants:
  thing.wants: [{file: {{ at }}/wanted}, {require: [{cmd: first}]}]
needs:
  cmd.run: [{name: echo needs >> {{ at }}/log}, {require: [{thing: wants}]}]
reacts:
  cmd.run: [{name: echo reacts >> {{ at }}/log}, {onchanges_any: [{thing: wants}, {cmd: first}]}]
steady:
  cmd.run: [{name: echo steady >> {{ at }}/log}]
listens:
  test.nop: [{listen: [{cmd: steady}, {thing: wants}]}]
caller:
  cmd.run:
    - name: echo caller >> {{ at }}/log
    - delayed_render: [{block: inner}]
fine-caller:
  cmd.run:
    - name: echo fine-caller >> {{ at }}/log
    - delayed_render: [{block: fine}]
after:
  cmd.run: [{name: echo after >> {{ at }}/log}, {require: [{cmd: fine-caller}]}]
#!delayed_block inner
inner:
  thing.wants: [{file: {{ pillar['at'] }}/wanted}]
#!end_delayed_block inner
#!delayed_block fine
fine:
  cmd.run: [{name: echo fine >> {{ pillar['at'] }}/log}]
#!end_delayed_block fine
"""
AGAIN = ["wants", "needs", "reacts", "caller", "inner", "listener_listens"]
FILES = {"_states/thing.py": THING, "main.sls": MAIN}


def failed(one: Machine) -> str:
    assert one.apply().code == 2
    return one.journal().stem


def ids(one: Machine, *words: str) -> list[str]:
    done = one.place.run("apply", *words, "--out", "json")
    is_told_well(done)
    return list(done.answers())


def test_only_what_failed_and_what_needs_it_runs() -> None:
    with machine(FILES) as one:
        jid = failed(one)
        (one.at / "wanted").touch()
        assert ids(one, "--failed-from", jid) == AGAIN
        log = one.log()
        assert (log["first"], log["steady"], log["fine-caller"], log["fine"], log["after"]) == (1,) * 5
        assert (log["needs"], log["caller"]) == (1, 2)  # a caller with a failed frame is done as a whole


def test_what_still_fails_can_be_tried_once_more() -> None:
    with machine(FILES) as one:
        jid = failed(one)
        assert ids(one, "--failed-from", jid) == AGAIN
        (one.at / "wanted").touch()
        again = one.summaries()[0].jid
        assert again != jid
        assert ids(one, "--failed-from", again) == AGAIN
        assert one.summaries()[0].status == "succeeded"
        assert ids(one, "--failed-from", one.summaries()[0].jid) == []


def test_a_state_that_was_mended_in_its_file_runs_as_it_is_now() -> None:
    with machine(FILES) as one:
        jid = failed(one)
        text = MAIN.replace("{{ at }}/wanted", "/dev/null").replace("echo steady", "echo steadier")
        one.place.write({"main.sls": text})
        assert ids(one, "--failed-from", jid)[:4] == ["wants", "needs", "reacts", "steady"]
        assert one.log()["steadier"] == 1


def test_such_a_run_can_break_and_go_on() -> None:
    with machine(FILES) as one:
        jid = failed(one)
        (one.at / "wanted").touch()
        for number in range(0, 60, 7):
            argv = ["apply", "--failed-from", jid, "--out", "json"]
            code = one._run(dies_at(number), *argv).code
            while code == DEAD and one.broken():
                assert one.resume().code in (0, 2)
        log = one.log()
        assert (log["first"], log["steady"], log["fine"]) == (1, 1, 1)


def test_of_a_broken_run_what_was_not_reached_runs() -> None:
    with machine(FILES) as one:
        assert one.apply(dies_at(60)).code == DEAD
        (one.at / "wanted").touch()
        before = one.log()
        assert one.place.run("apply", "--failed-from", one.journal().stem).code == 0
        assert all(one.log()[word] == 1 for word in before if word in ("first", "steady", "fine"))
        assert len(one.log()) == 8


@pytest.mark.parametrize("words", [["main"], ["--only-id", "first"], ["--test"]])
def test_what_else_is_asked_for_is_refused(words: list[str]) -> None:
    with machine(FILES) as one:
        done = one.place.run("apply", "--failed-from", failed(one), *words)
        is_told_well(done)
        assert done.code == 1


def test_a_run_that_nobody_knows_is_reported() -> None:
    with machine(FILES) as one:
        jid = failed(one)
        done = one.place.run("apply", "--failed-from", jid[:-1] + "x")
        is_told_well(done)
        assert "no run is called" in done.err
        assert jid in done.err
