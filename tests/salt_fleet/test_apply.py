"""``saltern.apply`` on the minions of a real master: what comes back is what ``state.apply`` would return."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.salt_fleet.conftest import Salt

pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("salt-fleet")]

WEB = """\
greeting:
  file.managed:
    - name: {place}/{{{{ pillar.who }}}}/greeting
    - source: salt://web/files/greeting.txt
    - template: jinja
    - makedirs: true
shout:
  cmd.run:
    - name: echo done
    - onchanges: [{{file: greeting}}]
"""


def test_a_run_has_the_form_of_state_apply(fleet: Salt) -> None:
    fleet.write("web/init.sls", WEB.format(place=fleet.place))
    fleet.write("web/files/greeting.txt", "hello {{ pillar.who }} of {{ grains.id }}\n")
    first = fleet.ask("*", "saltern.apply", "web", "test=True")
    assert {one["result"] for answer in first.values() for one in answer.values()} == {None}
    ours = fleet.ask("*", "saltern.apply", "web")
    assert (fleet.place / "web2" / "greeting").read_text() == "hello web2 of web2\n"
    (fleet.place / "web1" / "greeting").unlink()
    (fleet.place / "web2" / "greeting").unlink()
    theirs = fleet.ask("*", "state.apply", "web")
    assert without_times(ours) == without_times(theirs)


def test_failures_and_what_does_not_compile_have_the_return_codes_of_salt(fleet: Salt) -> None:
    fleet.write(
        "bad.sls", "wrong:\n  cmd.run: [{name: exit 3}]\nnext:\n  test.nop: [{require: [{cmd: wrong}]}]\n"
    )
    failed = fleet.details("web1", "saltern.apply", "bad")
    assert [state["result"] for state in failed["ret"].values()] == [False, False]
    assert (failed["retcode"], failed["out"]) == (2, "highstate")
    missing = fleet.details("web1", "saltern.apply", "no.such")
    assert missing["retcode"] == 1 and "no SLS is called 'no.such'" in missing["ret"][0]
    wrong = fleet.details("web1", "saltern.apply", "bad", "tset=True")
    assert "unknown argument tset" in wrong["ret"] and wrong["retcode"] != 0


def test_a_file_that_was_written_a_moment_ago_is_found(fleet: Salt) -> None:
    fleet.ask("web1", "saltern.show", "sls", "bad")  # the master lists its files
    fleet.write("new.sls", "include: [newer]\n")
    fleet.write("newer.sls", "that:\n  test.nop: []\n")
    assert list(fleet.ask("web1", "saltern.apply", "new")["web1"]) == ["test_|-that_|-that_|-nop"]


def test_frames_and_the_pillar_of_the_call(fleet: Salt) -> None:
    fleet.write(
        "late.sls",
        "probe:\n  test.nop:\n    - ip: {{ pillar.ip }}\n    - delayed_render: [{block: then}]\n"
        "#!delayed_block then\nuse {{ prev_ret.data.ip }}:\n  test.nop: []\n#!end_delayed_block then\n",
    )
    answer = fleet.ask("web1", "saltern.apply", "late", "pillar={'ip': '192.0.2.7'}")["web1"]
    (late,) = (state for state in answer.values() if "__parent__" in state)
    assert (late["__id__"], late["__parent__"]) == ("use 192.0.2.7", "test_|-probe_|-probe_|-nop")


def test_one_run_at_a_time_and_a_killed_one_is_resumed(fleet: Salt) -> None:
    started, go = fleet.place / "started", fleet.place / "go"
    fleet.write(
        "long.sls",
        f"first:\n  cmd.run: [{{name: echo 1 >> {started}}}]\n"
        f"second:\n  cmd.run: [{{name: 'until test -e {go}; do sleep 0.1; done; echo 2 >> {started}'}}]\n",
    )
    with fleet.begun("web1", "saltern.apply", "long") as job:
        wait_until(started.exists)
        for function in ("saltern.apply", "state.apply"):
            refused = fleet.details("web1", function, "web")
            assert "saltern_apply" in refused["ret"][0] and refused["retcode"] == 1
        assert fleet.ask("web1", "saltern.runs")["web1"][0]["status"] == "running"
        kill_run(fleet.place)
        assert "ended by signal 9; saltern.resume continues" in job.communicate()[0]
    go.touch()
    resumed = fleet.ask("web1", "saltern.resume")["web1"]
    assert isinstance(resumed, dict), resumed
    assert [state["result"] for state in resumed.values()] == [True, True]
    assert started.read_text() == "1\n2\n"
    again = fleet.details("web1", "saltern.resume")  # as the reaction to a start does each time
    assert (again["ret"], again["retcode"]) == ({}, 0)


def test_orchestration_and_the_job_cache_have_every_state(fleet: Salt) -> None:
    fleet.write("bad.sls", "wrong:\n  cmd.run: [{name: exit 3}]\n")
    fleet.write(
        "orchestrated.sls",
        "all:\n  salt.function: [{name: saltern.apply}, {tgt: web1}, {arg: [bad]}]\n"
        "then:\n  salt.function: [{name: test.ping}, {tgt: '*'}, {require: [{salt: all}]}]\n",
    )
    done = fleet.command("salt-run", "state.orchestrate", "orchestrated", "--out", "json")
    (states,) = json.loads(done.stdout)["data"].values()
    first, then = sorted(states.values(), key=lambda state: state["__run_num__"])
    assert first["result"] is False and "cmd_|-wrong_|-exit 3_|-run" in first["changes"]["ret"]["web1"]
    assert then["result"] is False and "requisite" in then["comment"].lower()
    cached = fleet.command("salt-run", "jobs.list_jobs", "search_function=saltern.apply", "--out", "json")
    assert json.loads(cached.stdout)


def test_a_minion_without_saltern_says_what_to_do(fleet: Salt) -> None:
    answer = fleet.local("web1", "saltern.apply", "web", saltern="{program: /nonexistent/saltern}")
    assert "saltern is not installed on this minion" in answer and "saltern.installed" in answer


def kill_run(place: Path) -> None:
    """Kill the process of saltern that the minion runs, as a crash would."""
    first = min(
        int(one.name)
        for one in Path("/proc").iterdir()
        if one.name.isdigit() and _is_run(one, f"--config={place}/web1/")
    )  # the other one keeps the command that runs
    os.kill(first, signal.SIGKILL)


def _is_run(process: Path, configuration: str) -> bool:
    with suppress(OSError):
        words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        return any(word.startswith(configuration) for word in words) and "apply" in words
    return False


def wait_until(true: Callable[[], object]) -> None:
    while not true():
        time.sleep(0.05)


def without_times(answer: dict[str, dict[str, dict[str, object]]]) -> object:
    """The returns without what differs between any two runs."""
    left_out = {"duration", "start_time", "comment", "changes", "__state_ran__"}
    return {
        minion: {
            tag: {key: value for key, value in state.items() if key not in left_out}
            for tag, state in states.items()
        }
        for minion, states in answer.items()
    }
