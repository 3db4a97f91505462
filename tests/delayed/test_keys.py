"""Keys of Salt's dictionary and of the lines: parents at every depth, frames that begin and end."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from tests.delayed.thing import attempted, run

from saltern.language.events import Report
from saltern.report import lines
from saltern.report.outputs import OutputOptions, write
from saltern.report.salt import to_dict

# The same IDs at every level, sub states inside of frames, a target that is not rendered, an empty frame.
DEEP = """
    a:
      thing.steps:
        - delayed_render: [{block: B}, {block: empty}, {block: never, when: failure}]
    b:
      thing.steps:
        - delayed_render: [{block: B}]
    #!delayed_block B delayed_repeat_limit=2
    a:
      thing.steps:
        - delayed_render: [{block: C}]
    #!delayed_block C delayed_repeat_limit=None
    a:
      thing.steps: []
    a step:
      thing.steps: []
    #!end_delayed_block C
    #!end_delayed_block B
    #!delayed_block empty
    #!end_delayed_block
    #!delayed_block never
    x:
      test.nop: []
    #!end_delayed_block
    """


def parents(shaped: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {key: one["__parent__"] for key, one in shaped.items() if "__parent__" in one}


def told(report: Report) -> list[dict[str, Any]]:
    out = StringIO()
    lines.write(report, out, OutputOptions(label="here"))
    return [json.loads(line) for line in out.getvalue().splitlines()]


def live(text: str) -> list[dict[str, Any]]:
    out = StringIO()
    tell = lines.Lines(out)
    for event in attempted(text).events:
        tell(event)
    tell.close()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_every_parent_is_a_key_and_is_one_level_up() -> None:
    """“carries `__id__`, `__path__`, `__parent__`, `__depth__`”."""
    shaped: Any = to_dict(run(DEEP))
    for key, parent in parents(shaped).items():
        assert shaped[key]["__depth__"] == shaped[parent].get("__depth__", 0) + 1
        assert shaped[parent]["__run_num__"] < shaped[key]["__run_num__"]
    assert shaped.keys() - parents(shaped).keys() == {"thing_|-a_|-a_|-steps", "thing_|-b_|-b_|-steps"}


def test_the_parent_of_a_state_in_a_frame_of_a_frame_is_its_own_caller() -> None:
    shaped: Any = to_dict(run(DEEP))
    deepest = "thing_|-b>B#2>a>C#2>a_|-a_|-steps"
    assert shaped[deepest]["__parent__"] == "thing_|-b>B#2>a_|-a_|-steps"
    assert parents(shaped)["thing_|-b>B#2>a_|-a_|-steps"] == "thing_|-b_|-b_|-steps"


@pytest.mark.parametrize("out", ["json", "yaml", "jsonl"])
def test_all_formats_have_the_same_parents(out: str) -> None:
    report = run(DEEP)
    if out == "jsonl":
        shaped = {line["tag"]: line["return"] for line in told(report) if line["event"] == "chunk-finished"}
    else:
        text = StringIO()
        write(report, text, OutputOptions(label="local"), out)
        import yaml

        shaped = yaml.safe_load(text.getvalue())["local"]
    expected: Any = to_dict(report)
    assert parents(shaped) == parents(expected)


def test_live_lines_have_the_same_keys_and_parents() -> None:
    shaped = {line["tag"]: line["return"] for line in live(DEEP) if line["event"] == "chunk-finished"}
    expected: Any = to_dict(run(DEEP))
    assert parents(shaped) == parents(expected)
    assert shaped.keys() == expected.keys()


@pytest.mark.parametrize("way", ["live", "told again"])
def test_started_and_finished_events_of_a_frame_pair_up(way: str) -> None:
    stack: list[str] = []
    frames = 0
    for line in live(DEEP) if way == "live" else told(run(DEEP)):
        if line["event"] == "frame-started":
            stack.append(line["path"])
            frames += 1
        elif line["event"] == "frame-finished":
            assert stack.pop() == line["path"]
        elif line["event"] == "chunk-finished" and not line["tag"].startswith("delayed_|-"):
            path = line["return"].get("__path__", "") if stack else ""
            assert path.startswith(stack[-1] if stack else "")
    assert (stack, frames) == ([], 5)


def test_what_was_started_and_what_was_finished_have_the_same_tag() -> None:
    seen = live(DEEP)
    started = [line["tag"] for line in seen if line["event"] == "chunk-started"]
    finished = [line["tag"] for line in seen if line["event"] == "chunk-finished"]
    assert len(set(started)) == len(started) == 8
    assert set(started) <= set(finished)


def test_a_sub_state_that_comes_first_leaves_its_key_to_the_state_that_comes_later() -> None:
    """Sub states are told while their parent runs, long before a later state of the same names."""
    text = "a:\n  thing.steps: []\na step:\n  thing.steps: []\n"
    for shaped in (
        {line["tag"]: line["return"] for line in live(text) if line["event"] == "chunk-finished"},
        to_dict(run(text)),
    ):
        assert "__parent__" not in shaped["thing_|-a step_|-a step_|-steps"]
        assert shaped["thing_|-a step#2_|-a step_|-steps"]["__parent__"] == "thing_|-a_|-a_|-steps"


def test_a_sub_state_leaves_their_keys_to_listeners() -> None:
    text = (
        "listener_b:\n  thing.steps: []\nc:\n  thing.made:\n    - changed: true\n"
        "b:\n  thing.made:\n    - listen: [thing: c]\n"
    )
    seen = {line["tag"]: line["return"] for line in live(text) if line["event"] == "chunk-finished"}
    assert "__parent__" not in seen["thing_|-listener_b_|-b_|-mod_watch"]
