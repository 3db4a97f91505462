"""The decisions, “The repeat limit”: a test for each sentence."""

from __future__ import annotations

import pytest
from tests.delayed.thing import attempted, comment_of, paths, result_of, run, value_of
from tests.kit import ids

from saltern.config.options import OPTIONS
from saltern.config.shapes import SHAPES


def callers(count: int, entry: str = "block: B") -> str:
    return "".join(
        f"s{number}:\n  test.nop:\n    - delayed_render:\n      - {entry}\n" for number in range(count)
    )


def block(words: str = "", inside: str = "later:\n  test.nop: []") -> str:
    return f"#!delayed_block B {words}\n{inside}\n#!end_delayed_block\n"


def calling(name: str) -> str:
    """A state that calls an inner block, and that block."""
    return (
        f"x:\n  test.nop:\n    - delayed_render:\n      - block: {name}\n"
        f"#!delayed_block {name}\ny:\n  test.nop: []\n#!end_delayed_block"
    )


RECURSIVE = """
    a:
      test.nop:
        - delayed_render:
          - block: B
    #!delayed_block B delayed_repeat_limit=None
    again:
      test.nop:
        - delayed_render:
          - block: B
    #!end_delayed_block
    last:
      test.nop: []
    """


# -- what is counted -------------------------------------------------------------------------------------


def test_frames_of_one_block_are_counted_across_callers() -> None:
    """“Counts frames started for one definition (file + block path …) … across scopes and callers”."""
    report = run(callers(4) + block("delayed_repeat_limit=2"))
    assert paths(report) == ["s0", "s0>B#1>later", "s1", "s1>B#2>later", "s2", "s2>B", "s3", "s3>B"]


def test_frames_of_one_sls_are_counted_across_files_and_blocks() -> None:
    """“(… or saltenv + sls)”."""
    report = run(
        "include:\n  - second\n"
        + callers(1, "sls: other")
        + "b:\n  test.nop:\n    - delayed_render:\n      - block: B\n"
        + block("", callers(1, "sls: other").rstrip()),
        {"second.sls": callers(1, "sls: other").replace("s0", "t0"), "other.sls": "o:\n  test.nop: []\n"},
    )
    assert paths(report) == [
        "t0",
        "t0>sls:other#1>o",
        "s0",
        "s0>sls:other",
        "b",
        "b>B#1>s0",
        "b>B#1>s0>sls:other",
    ]


def test_frames_are_counted_across_scopes() -> None:
    """“across scopes”: an inner block that its own frames call."""
    text = RECURSIVE.replace("None", "3")
    assert ids(run(text)) == ["a", "again", "again", "again", "B", "last"]


def test_an_inner_block_is_one_definition_in_all_frames_of_the_outer_one() -> None:
    """“file + block path”."""
    inner = calling("C")
    report = run(callers(2) + block("delayed_repeat_limit=2", inner))
    assert paths(report) == ["s0", "s0>B#1>x", "s0>B#1>x>C#1>y", "s1", "s1>B#2>x", "s1>B#2>x>C"]


def test_two_blocks_of_one_name_are_two_definitions() -> None:
    """“file + block path”: in another block it is another."""
    inner = calling("B")
    assert value_of(run(callers(1) + block("", inner)), "s0>B#1>x>B#1>y") is True


def test_what_is_not_rendered_does_not_count() -> None:
    """“Counts frames started”."""
    report = run(
        callers(1).replace("test.nop", "test.fail_without_changes") + callers(1).replace("s0", "s1") + block()
    )
    assert paths(report) == ["s0", "s0>B", "s1", "s1>B#1>later"]


def test_a_frame_that_did_not_render_well_counts() -> None:
    """“frames started”: also one that failed."""
    report = run(callers(2) + block("", "{{ missing }}"))
    assert "used that up" in comment_of(report, "s1>B")


def test_every_run_counts_anew() -> None:
    """“in one job on one machine”."""
    for _ in range(2):
        assert ids(run(callers(1) + block())) == ["s0", "later"]


# -- where it is set ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "config", "times"),
    [
        ("", {}, 1),
        ("", {"delayed_repeat_limit": 2}, 2),
        ("", {"delayed_repeat_limit": None}, 4),
        ("delayed_repeat_limit=3", {}, 3),
        ("delayed_repeat_limit=3", {"delayed_repeat_limit": 2}, 3),
        ("delayed_repeat_limit=1", {"delayed_repeat_limit": None}, 1),
        ("delayed_repeat_limit=None", {"delayed_repeat_limit": 2}, 4),
    ],
)
def test_the_tag_beats_the_configuration_and_that_beats_one(
    words: str, config: dict[str, object], times: int
) -> None:
    """“Tag/hashbang beats config beats 1.”"""
    assert ids(run(callers(4) + block(words), config=config)).count("later") == times
    other = {"other.sls": f"#!delayed_sls {words}\nlater:\n  test.nop: []\n"}
    assert ids(run(callers(4, "sls: other"), other, config=config)).count("later") == times


@pytest.mark.parametrize("none", ["None", "none", "null", "~"])
def test_no_limit_has_four_spellings(none: str) -> None:
    """“Accept `None/none/null/~`”."""
    assert ids(run(callers(3) + block(f"delayed_repeat_limit={none}"))).count("later") == 3


@pytest.mark.parametrize("none", ["None", "none", "null", "~"])
def test_the_configuration_has_them_too(none: str) -> None:
    """“Accept `None/none/null/~`”: in a configuration file."""
    assert SHAPES[OPTIONS["delayed_repeat_limit"].shape](none) is None


# -- over the limit ----------------------------------------------------------------------------------------


def test_over_the_limit_a_failed_result_says_who_used_it_up_and_where_to_raise_it() -> None:
    """“a failed result says who used it up and the places to raise it”."""
    outcome = attempted(callers(3) + block("delayed_repeat_limit=2"))
    report = outcome.report
    assert report is not None
    result = result_of(report, "s2>B")
    assert (result.outcome.value, result.ran) == (False, False)
    assert result.comment.startswith(
        "not rendered: block 'B' may be rendered 2 times, and s0, s1 used that up; "
    )
    assert "raise delayed_repeat_limit on its tag (" in result.comment
    assert "main.sls:13), or in the configuration" in result.comment
    assert outcome.code == 2


def test_for_an_sls_the_place_is_its_hashbang() -> None:
    """The same sentence, for a file."""
    report = run(callers(2, "sls: other"), {"other.sls": ""})
    assert "(#!delayed_sls in other)" in comment_of(report, "s1>sls:other")


def test_the_run_goes_on_unless_failhard() -> None:
    """“the run goes on unless `failhard`”."""
    text = callers(3) + "last:\n  test.nop: []\n" + block()
    assert result_of(run(text), "last").ran
    assert not result_of(run(text.replace("- delayed", "- failhard: true\n    - delayed")), "last").ran


# -- caps --------------------------------------------------------------------------------------------------


def test_a_block_that_calls_itself_without_limit_ends_at_the_depth() -> None:
    """“Independent hard caps (`delayed_max_depth` 50 …) have their own message.”"""
    report = run(RECURSIVE)
    assert max(frame.depth for frame in report.frames) == 50
    (refused,) = [answer for answer in report.answers if not answer.result.ran]
    assert refused.result.comment.startswith(
        "not rendered: deeper than delayed_max_depth, 50, at a>B#1>again"
    )
    assert result_of(report, "last").ran


def test_the_depth_is_a_setting() -> None:
    """“`delayed_max_depth`”."""
    report = run(RECURSIVE, config={"delayed_max_depth": 3})
    assert ids(report).count("again") == 3


def test_two_blocks_that_call_each_other_end_at_the_depth() -> None:
    """“recursive blocks with no limit (caps)”."""
    text = callers(1) + "".join(
        f"#!delayed_block {one} delayed_repeat_limit=None\n{one}:\n  test.nop:\n"
        f"    - delayed_render:\n      - block: {other}\n#!end_delayed_block\n"
        for one, other in (("B", "C"), ("C", "B"))
    )
    report = run(text)
    assert len(report.frames) == 50


def test_the_number_of_frames_has_a_cap() -> None:
    """“(… `delayed_max_frames` 1000)”."""
    report = run(callers(5) + block("delayed_repeat_limit=None"), config={"delayed_max_frames": 3})
    assert ids(report).count("later") == 3
    assert comment_of(report, "s3>B") == "not rendered: this run has rendered delayed_max_frames, 3, already"


def test_a_sls_that_calls_itself_ends_at_the_depth() -> None:
    """“recursive blocks with no limit (caps)”, for a whole file."""
    file = "#!delayed_sls delayed_repeat_limit=None\n" + callers(1, "sls: other")
    report = run(callers(1, "sls: other"), {"other.sls": file})
    assert len(report.frames) == 50


def test_a_cap_rolls_up_and_the_limit_does_not() -> None:
    """“The repeat-limit error does not roll up”, and “Independent hard caps” do."""
    text = callers(2) + block("LIMIT") + "w:\n  test.nop:\n    - require:\n      - test: s1\n"
    assert value_of(run(text.replace("LIMIT", "")), "w") is True
    config = {"delayed_max_frames": 1}
    assert value_of(run(text.replace("LIMIT", "delayed_repeat_limit=2"), config=config), "w") is False


def test_a_greater_depth_is_reached_and_not_python_s_own() -> None:
    """“nesting to any depth”: whatever the cap is set to, no run ends in a traceback."""
    report = run(RECURSIVE, config={"delayed_max_depth": 300})
    assert len(report.frames) == 300
    assert result_of(report, "last").ran
