"""Programs of a run that is killed: they go on, are found again, and have their result."""

from __future__ import annotations

import os
import time

import pytest
from tests.e2e.command import Done
from tests.fault.machine import DEAD, Machine, machine

LONG = "echo long >> {{ pillar['at'] }}/log; touch {{ pillar['at'] }}/on; sleep 0.6; echo out; %s"
AFTER = """
after:
  cmd.run: [{name: "echo after >> {{ pillar['at'] }}/log"}, {require: [{cmd: long}]}]
"""


def killed(one: Machine) -> None:
    """While its program runs."""
    process = one.place.start("apply", "main", "--pillar", f"{{at: {one.at}}}")
    end = time.monotonic() + 200
    while not (one.at / "on").exists():
        assert time.monotonic() < end, process.communicate()
        time.sleep(0.01)
    process.kill()
    process.communicate()


def resumed(one: Machine) -> Done:
    """In the boot of this machine, as the process that was killed."""
    return one.place.run("resume", "--out", "json")


def _main(more: str = "", last: str = "true", after: str = AFTER) -> dict[str, str]:
    return {"main.sls": f"long:\n  cmd.run:\n    - name: {LONG % last}\n{more}{after}"}


@pytest.mark.parametrize("ended", [False, True])
def test_a_command_that_ran_on_is_waited_for_or_its_result_is_taken(ended: bool) -> None:
    with machine(_main()) as one:
        killed(one)
        if ended:
            one.quiet()
        done = resumed(one)
        assert done.code == 0, done.err
        changes = done.answers()["long"]["changes"]
        assert isinstance(changes, dict)
        assert (changes["stdout"], changes["retcode"]) == ("out", 0)
        assert float(str(done.answers()["long"]["duration"])) >= 600  # its own, not that of taking the result
        assert one.log() == {"long": 1, "after": 1}
        assert not list(one.runs.glob("*.kept"))


def test_one_that_failed_meanwhile_has_failed() -> None:
    with machine(_main(last="exit 3")) as one:
        killed(one)
        done = resumed(one)
        assert done.code == 2
        assert "indeterminate" not in done.answers()["long"]
        assert one.log() == {"long": 1}


def test_a_condition_that_the_command_itself_has_changed_is_not_asked_again() -> None:
    with machine(_main(more="    - creates: {{ pillar['at'] }}/on\n")) as one:
        killed(one)
        answer = resumed(one).answers()["long"]
        assert isinstance(answer["changes"], dict)
        assert answer["changes"]["stdout"] == "out"


def test_attempts_that_were_made_are_not_made_again() -> None:
    """The second attempt runs while the run breaks, and is the one that succeeds."""
    counted = "n=$(grep -c long {{ pillar['at'] }}/log 2>/dev/null); echo long >> {{ pillar['at'] }}/log"
    name = f"{counted}; test $n = 1 && touch {{{{ pillar['at'] }}}}/on && sleep 0.5 && exit 0; exit 1"
    text = f'long:\n  cmd.run:\n    - name: "{name}"\n    - retry: {{attempts: 4, interval: 0}}\n'
    with machine({"main.sls": text}) as one:
        killed(one)
        done = resumed(one)
        assert done.code == 0, done.out
        assert one.log() == {"long": 2}


def test_a_script_and_a_parallel_state_are_kept_as_well() -> None:
    script = "echo long >> $1/log; touch $1/on; sleep 0.6; echo out\n"
    text = (
        "{% set at = pillar['at'] %}\nlong:\n  cmd.script:\n    - source: salt://a.sh\n    - args: {{ at }}\n"
    )
    for more in ("", "    - parallel: true\n"):
        with machine({"main.sls": text + more, "a.sh": script}) as one:
            killed(one)
            done = resumed(one)
            assert done.code == 0, done.err
            changes = done.answers()["long"]["changes"]
            assert isinstance(changes, dict)
            assert changes["stdout"] == "out"
            assert one.log() == {"long": 1}


def test_a_listener_that_reacts_by_a_command_is_kept() -> None:
    text = """
{% set at = pillar['at'] %}
changed:
  cmd.run: [{name: 'true'}]
long:
  cmd.wait:
    - name: echo long >> {{ at }}/log; touch {{ at }}/on; sleep 0.6; echo out
    - listen: [{cmd: changed}]
"""
    with machine({"main.sls": text}) as one:
        killed(one)
        done = resumed(one)
        assert done.code == 0, done.err
        assert done.answers()["listener_long"]["result"] is True
        assert one.log() == {"long": 1}


@pytest.mark.parametrize("point", ["keeper.ask", "keeper.asked", "keeper.answered"])
def test_a_run_killed_beside_its_keeper_starts_a_command_once(point: str) -> None:
    """Before it is asked nothing has begun: then, and only then, the command is begun by the next process."""
    with machine(_main(after="")) as one:

        def dies(name: str) -> None:
            if name == point:
                os._exit(DEAD)

        assert one.apply(dies).code == DEAD
        done = one.resume()
        assert done.code == 0, done.err
        assert "indeterminate" not in done.answers()["long"]
        assert one.log() == {"long": 1}


def test_after_a_loss_of_power_a_result_that_was_synced_is_taken() -> None:
    with machine(_main()) as one:
        reached = one.at / "on"

        def dies(name: str) -> None:
            if name == "keeper.asked":
                while not reached.exists():
                    time.sleep(0.01)
                os._exit(DEAD)

        assert one.apply(dies).code == DEAD
        one.quiet()
        one.boots.number += 1
        assert one.resume().code == 0
        assert one.log() == {"long": 1, "after": 1}


def test_after_a_loss_of_power_what_left_no_trace_is_indeterminate() -> None:
    """The keeper may have begun it, and the disk does not know."""
    with machine(_main()) as one:

        def dies(name: str) -> None:
            if name == "keeper.ask":
                os._exit(DEAD)

        assert one.apply(dies).code == DEAD
        one.boots.number += 1
        done = one.resume()
        assert done.answers()["long"]["indeterminate"] is True
        assert one.log() == {}


def test_a_program_whose_run_is_killed_keeps_no_lock() -> None:
    with machine(_main()) as one:
        killed(one)
        (run,) = one.summaries()
        assert run.status == "broken"
        assert resumed(one).code == 0
