"""A loss of power takes what the kernel had not yet written: files of states whose answers are on disk."""

from __future__ import annotations

import pytest
from tests.fault.machine import DEAD, Machine, Watch, die, machine
from tests.fault.reference import THING

FILES = {
    "_states/thing.py": THING,
    "main.sls": """
{% set at = pillar['at'] %}
before:
  file.managed: [{name: {{ at }}/before}, {contents: one}]
once:
  cmd.run: [{name: echo once >> {{ at }}/log; echo two > {{ at }}/before}]
conf:
  file.managed: [{name: {{ at }}/conf}, {contents: one}]
appended:
  file.append: [{name: {{ at }}/list}, {text: two}, {require: [{file: conf}]}]
reacts:
  thing.steady: [{name: {{ at }}/reacts}, {watch: [{file: conf}]}]
steady:
  thing.steady: [{name: x}]
last:
  thing.made: [{name: {{ at }}/last}]
""",
}


WRITTEN = {"conf": "one\n", "list": "two\n"}


def before_the_last() -> Watch:
    """Killed when the last state is about to be called."""
    left = [7]

    def watch(point: str) -> None:
        left[0] -= point == "state.call"
        if not left[0]:
            die()

    return watch


def broken(one: Machine) -> None:
    assert one.apply(before_the_last()).code == DEAD
    for name, text in WRITTEN.items():
        assert (one.at / name).read_text() == text
        (one.at / name).write_bytes(bytes(len(text)))  # as a file system leaves it that had only its size


def answers(one: Machine) -> dict[str, dict[str, object]]:
    assert one.resume().code == 0
    return {str(answer["__id__"]): answer for answer in one.shown().values()}


def test_what_went_with_the_power_is_done_again() -> None:
    with machine(FILES) as one:
        broken(one)
        one.boots.number += 1
        told = answers(one)
        assert (one.at / "conf").read_text() == "one\n"
        assert (one.at / "list").read_text().endswith("two\n")
        assert told["conf"].get("resumed") and told["appended"].get("resumed")
        assert not told["reacts"].get("resumed")
        assert all(answer["result"] is True for answer in told.values())
        assert one.log() == {"once": 1}


def test_what_a_command_came_after_is_left_to_the_next_run() -> None:
    """It may have changed on purpose what the state before it had made."""
    with machine(FILES) as one:
        broken(one)
        one.boots.number += 1
        told = answers(one)
        assert (one.at / "before").read_text() == "two\n"
        assert not told["before"].get("resumed")


def test_nothing_is_asked_when_only_the_process_was_killed() -> None:
    with machine(FILES) as one:
        broken(one)
        told = answers(one)
        assert (one.at / "conf").read_bytes() == bytes(4)
        assert not any(answer.get("resumed") for name, answer in told.items() if name != "last")


@pytest.mark.parametrize("times", [1, 2])
def test_what_is_still_there_keeps_its_answer(times: int) -> None:
    with machine(FILES) as one:
        assert one.apply(before_the_last()).code == DEAD
        for _ in range(times):
            one.boots.number += 1
        told = answers(one)
        unsure = ["steady", "last"]  # nobody is connected with them, and they may have been called
        assert [name for name, answer in told.items() if answer.get("resumed")] == unsure
        assert told["conf"]["changes"]
