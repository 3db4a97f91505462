"""Sub states in every view: set in under their parent, counted apart, left out on request."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from tests.unit.report.test_live import Screen, left

from saltern.language.events import Answer, ChunkFinished, ChunkStarted, Report, RunStarted, in_order
from saltern.language.result import Outcome
from saltern.report.human import show
from saltern.report.live import Live
from saltern.report.outputs import OutputOptions, write
from saltern.report.tree import to_tree

if TYPE_CHECKING:
    from tests.unit.report.conftest import Make


@pytest.fixture
def answers(make: Make) -> list[Answer]:
    """A playbook with a loop in it, and a state after it."""
    parent = make("site", function="ansible.playbooks", number=0)

    def step(answer: Answer, under: Answer, depth: int) -> Answer:
        return replace(answer, sub=True, depth=depth, under=under.number, parent=under.chunk.tag)

    fine = step(make("fine", function="ansible.debug", number=1), parent, 1)
    loop = step(make("loop", changes={"a": 1}, function="ansible.command", number=2), parent, 1)
    first = step(make("first", function="ansible.command", number=3), loop, 2)
    wrong = step(make("wrong", Outcome.FAILED, "no", function="ansible.command", number=4), loop, 2)
    return [parent, fine, loop, first, wrong, make("after", number=5)]


def shown(answers: list[Answer], mode: str, **options: object) -> list[str]:
    out = io.StringIO()
    given = OutputOptions(state_output="terse", state_output_profile=False, sub_states=mode, **options)  # type: ignore[arg-type]
    show(Report(answers=answers), given, out)
    return [line.partition(" - Function")[0] for line in out.getvalue().split("\n\n")[0].splitlines()[1:]]


def test_all_of_them_stand_set_in_under_their_parents(answers: list[Answer]) -> None:
    assert shown(answers, "full") == [
        " Name: site",
        "   Name: fine",
        "   Name: loop",
        "     Name: first",
        "     Name: wrong",
        " Name: after",
    ]


def test_those_that_changed_or_failed(answers: list[Answer]) -> None:
    assert shown(answers, "changes") == [
        " Name: site",
        "    1 sub state is not shown",
        "   Name: loop",
        "      1 sub state is not shown",
        "     Name: wrong",
        " Name: after",
    ]


def test_those_that_failed(answers: list[Answer]) -> None:
    assert shown(answers, "failed") == [
        " Name: site",
        "    3 sub states are not shown: 1 changed",
        "     Name: wrong",
        " Name: after",
    ]


def test_only_their_number_with_the_deeper_ones(answers: list[Answer]) -> None:
    assert shown(answers, "count") == [
        " Name: site",
        "    4 sub states are not shown: 1 failed, 1 changed",
        " Name: after",
    ]


def test_steps_of_one_name_are_never_pressed_into_one(answers: list[Answer], make: Make) -> None:
    twice = [answers[0], answers[1], replace(answers[1], number=2)]
    assert shown(twice, "full", state_compress_ids=True) == [" Name: site", "   Name: fine", "   Name: fine"]


def test_the_summary_counts_them_as_salt_does(answers: list[Answer]) -> None:
    out = io.StringIO()
    show(Report(answers=answers), OutputOptions(), out)
    assert "Succeeded: 5 (changed=1)\nFailed:    1\n" in out.getvalue()
    assert "Total states run:     6\nSub states among them: 4 (failed=1, changed=1)" in out.getvalue()


def test_steps_stay_under_a_parent_that_ran_beside_others(answers: list[Answer]) -> None:
    parent, fine, *_, after = answers
    late = [replace(after, number=1), parent, replace(fine, number=2)]
    assert [one.chunk.id for one in in_order(late)] == ["site", "fine", "after"]


def test_the_tree_has_them_below_their_parents(answers: list[Answer]) -> None:
    states = to_tree(Report(answers=answers))["states"]
    text = json.loads(json.dumps(states))
    assert [state["__id__"] for state in text] == ["site", "after"]
    steps = text[0]["sub_states"]
    assert [step["__id__"] for step in steps] == ["fine", "loop"]
    assert [step["__id__"] for step in steps[1]["sub_states"]] == ["first", "wrong"]


@pytest.mark.parametrize("name", ["json", "jsonl", "yaml", "junit", "pprint", "nested", "tree"])
def test_no_view_loses_one(answers: list[Answer], name: str) -> None:
    out = io.StringIO()
    write(Report(answers=answers), out, OutputOptions(), name)
    assert all(one in out.getvalue() for one in ("fine", "loop", "first", "wrong", "after"))


def test_on_a_terminal_they_come_under_a_line_that_says_whose_they_are(answers: list[Answer]) -> None:
    screen = Screen()
    with Live(screen.out, colour=False) as live:
        live(RunStarted(total=2))
        live(ChunkStarted(answers[0].chunk, 0.0))
        for answer in answers[1:5]:
            live(ChunkFinished(answer))
        live(ChunkFinished(answers[0]))
        live(ChunkStarted(answers[5].chunk, 0.0))
        live(ChunkFinished(answers[5]))
    lines = left(screen.read())
    screen.close()
    assert lines == [
        "▸ ansible.playbooks site",
        "  ✓ ansible.debug fine 1 ms",
        "  ● ansible.command loop 1 ms",
        "    ✓ ansible.command first 1 ms",
        "    ✗ ansible.command wrong 1 ms",
        "        no",
        "✓ ansible.playbooks site 1 ms",
        "✓ file.managed after 1 ms",
        "",
    ]


def test_on_a_terminal_they_are_seen_before_their_parent_has_ended(answers: list[Answer]) -> None:
    screen = Screen()
    with Live(screen.out, colour=False) as live:
        live(RunStarted(total=1))
        live(ChunkStarted(answers[0].chunk, 0.0))
        live(ChunkFinished(answers[1]))
        text = screen.read_until("0/1 1 steps")
    screen.close()
    assert "✓ ansible.debug fine" in text
    assert "0/1 1 steps" in text


@pytest.mark.parametrize(("mode", "count"), [("full", 4), ("changes", 2), ("failed", 1), ("count", 0)])
def test_on_a_terminal_the_option_holds_too(answers: list[Answer], mode: str, count: int) -> None:
    screen = Screen()
    with Live(screen.out, colour=False, sub_states=mode) as live:
        live(RunStarted(total=2))
        live(ChunkStarted(answers[0].chunk, 0.0))
        for answer in answers[1:5]:
            live(ChunkFinished(answer))
    lines = [line for line in left(screen.read()) if line.startswith("  ") and "ansible" in line]
    screen.close()
    assert len(lines) == count
