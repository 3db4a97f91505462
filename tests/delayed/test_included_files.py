"""Files that a frame includes see what the frame sees; ``--exclude`` reaches into frames."""

from __future__ import annotations

import pytest
from tests.delayed.thing import attempted, comment_of, paths, run, seen
from tests.kit import ids

CALL = """
    a:
      thing.made:
        - data: {ip: 10.0.0.7}
        - delayed_render:
          - TARGET
            context: {zone: example.org}
    """
BLOCK = "#!delayed_block B\ninclude: [part]\n#!end_delayed_block\n"
PART = "p:\n  test.nop:\n    - seen: {{ [prev_ret.data.ip, zone] | tojson }}\n"
TARGETS = [("block: B", "a>B#1>p"), ("sls: other", "a>sls:other#1>p")]


def called(target: str) -> str:
    from textwrap import dedent

    return dedent(CALL).replace("TARGET", target) + (BLOCK if "block" in target else "")


@pytest.mark.parametrize(("target", "path"), TARGETS)
def test_what_a_frame_includes_sees_prev_ret_and_the_context(target: str, path: str) -> None:
    """Seed 000: “delayed renders always have the return dict of the state that called it as `prev_ret`”."""
    report = run(called(target), {"part.sls": PART, "other.sls": "include: [part]\n"})
    assert seen(report, path) == ["10.0.0.7", "example.org"]


@pytest.mark.parametrize(("target", "path"), TARGETS)
def test_so_does_what_is_included_further_down(target: str, path: str) -> None:
    middle = {"part.sls": "include: [.deeper.one]\n", "deeper/one.sls": "include: [..two]\n", "two.sls": PART}
    assert seen(run(called(target), {**middle, "other.sls": "include: [part]\n"}), path)


def test_included_files_of_all_renderers_see_it() -> None:
    """“whatever the renderer is”."""
    python = '#!py\ndef run():\n    return {"p": {"test.nop": [{"seen": [prev_ret["data"]["ip"], zone]}]}}\n'
    mako = "#!mako|yaml\np:\n  test.nop:\n    - seen: ['${prev_ret['data']['ip']}', '${zone}']\n"
    for part in (python, mako):
        assert seen(run(called("block: B"), {"part.sls": part}), "a>B#1>p") == ["10.0.0.7", "example.org"]


def test_a_file_that_is_included_normally_sees_neither() -> None:
    outcome = attempted("include: [part]\n", {"part.sls": PART})
    assert "'prev_ret' is undefined" in "\n".join(outcome.texts)


def test_scoped_variables_are_those_of_the_block_alone() -> None:
    """“the Jinja context of the calling state is added to the context of the `delayed_block`”."""
    text = called("block: B").replace("#!delayed_block B", "{% set own = 1 %}\n#!delayed_block B scoped")
    report = run(text, {"part.sls": "p:\n  test.nop:\n    - seen: {{ own is defined }}\n"})
    assert seen(report, "a>B#1>p") is False


def test_a_block_in_an_included_file_may_be_scoped() -> None:
    part = (
        "p:\n  test.nop:\n    - delayed_render: [{block: C}]\n"
        "#!delayed_block C scoped\nq:\n  test.nop:\n    - seen: {{ [zone, prev_ret.name] | tojson }}\n"
        "#!end_delayed_block\n"
    )
    report = run(called("block: B"), {"part.sls": part})
    assert seen(report, "a>B#1>p>C#1>q") == ["example.org", "p"]


def test_special_names_win_over_the_context_in_included_files_too() -> None:
    """“Precedence: special names > `prev_ret` > entry `context`”."""
    text = called("block: B").replace("zone: example.org", "sls: mine, prev_ret: mine, saltenv: mine")
    part = "p:\n  test.nop:\n    - seen: {{ [sls, saltenv, prev_ret.name] | tojson }}\n"
    assert seen(run(text, {"part.sls": part}), "a>B#1>p") == ["part", "base", "a"]


# -- --exclude ---------------------------------------------------------------------------------------------

MORE = {"other.sls": "include: [part]\no:\n  test.nop: []\n", "part.sls": "p:\n  test.nop: []\n"}


@pytest.mark.parametrize(
    ("without", "left"),
    [
        ([{"id": "o"}], ["a", "p"]),
        ([{"id": "p"}], ["a", "o"]),
        (["other"], ["a", "p"]),
        ([{"sls": "part"}], ["a", "o"]),
        (["other", "part"], ["a"]),
        (["o*"], ["a", "p"]),
    ],
)
def test_exclude_reaches_delayed_sls_and_ids_in_them(without: list[object], left: list[str]) -> None:
    outcome = attempted(called("sls: other"), MORE, request={"exclude": without})
    assert outcome.report is not None
    assert sorted(ids(outcome.report)) == sorted(left)
    assert outcome.warnings == []


def test_exclude_reaches_ids_in_nested_blocks() -> None:
    text = (
        "a:\n  test.nop:\n    - delayed_render: [{block: B}]\n"
        "#!delayed_block B\nb:\n  test.nop:\n    - delayed_render: [{block: C}]\n"
        "#!delayed_block C\nc:\n  test.nop: []\nd:\n  test.nop: []\n" + "#!end_delayed_block\n" * 2
    )
    outcome = attempted(text, request={"exclude": [{"id": "c"}]})
    assert outcome.report is not None
    assert paths(outcome.report) == ["a", "a>B#1>b", "a>B#1>b>C#1>d"]
    assert outcome.warnings == []


def test_an_exclude_that_names_nothing_in_any_frame_is_reported_once() -> None:
    outcome = attempted(called("sls: other"), MORE, request={"exclude": [{"id": "nowhere"}]})
    (told,) = outcome.warnings
    assert "exclude names 'nowhere', which is not part of this run [exclude-matches-nothing]" in told


def test_what_still_points_at_an_excluded_id_is_a_problem_of_the_frame() -> None:
    more = {"other.sls": "o:\n  test.nop: []\nx:\n  test.nop:\n    - require: [test: o]\n"}
    outcome = attempted(called("sls: other"), more, request={"exclude": [{"id": "o"}]})
    assert outcome.report is not None
    assert "'o'" in comment_of(outcome.report, "a>sls:other")


def test_an_exclude_of_a_file_stays_where_it_is_written() -> None:
    """“`exclude` … inside a frame are local to it”, and one of the whole run is not meant for frames."""
    report = run("exclude: [{id: o}]\n" + called("sls: other"), MORE)
    assert "o" in ids(report)


def test_an_exclude_that_names_an_id_as_an_sls_says_how_it_is_written() -> None:
    outcome = attempted("a:\n  test.nop: []\nb:\n  test.nop: []\n", request={"exclude": ["a"]})
    (told,) = outcome.warnings
    assert "it is an ID: write {id: a}" in told
