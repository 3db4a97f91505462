"""The proposal's edge cases: a test for each sentence that names a behaviour."""

from __future__ import annotations

import pytest
from tests.delayed.thing import comment_of, problem, result_of, run, seen, value_of
from tests.kit import ids

REPEATED = """
    {% for i in range(5) %}
    my_state{{ i }}:
      test.nop:
        - delayed_render:
          - block: dependant_block_A
    {% endfor %}

    #!delayed_block dependant_block_A LIMIT
    my_stateA:
      test.nop:
        - seen: {{ prev_ret.name }}
    #!end_delayed_block
    """


def test_nested_blocks_are_a_chain_of_renders() -> None:
    """“In this case, there are three renders. The first … and the next two …, in a chain.”"""
    report = run(
        """
        my_state1:
          test.nop:
            - delayed_render:
              - block: dependant_block_A

        #!delayed_block dependant_block_A
        my_state2:
          test.nop:
            - seen: {{ prev_ret.name }}
            - delayed_render:
              - block: dependant_block_A_a

        #!delayed_block dependant_block_A_a
        my_state3:
          test.nop:
            - seen: {{ prev_ret.name }}
        #!end_delayed_block

        #!end_delayed_block
        """
    )
    inner = "my_state1>dependant_block_A#1>my_state2>dependant_block_A_a#1>my_state3"
    assert seen(report, inner) == "my_state2"
    assert [frame.depth for frame in sorted(report.frames, key=lambda frame: frame.depth)] == [1, 2]


def test_a_block_is_rendered_once_for_each_state_that_calls_it() -> None:
    """“*5 times* to render `dependant_block_A`, once for each state that calls it”."""
    report = run(REPEATED.replace("LIMIT", "delayed_repeat_limit=5"))
    called = [f"my_state{i}>dependant_block_A#{i + 1}>my_stateA" for i in range(5)]
    assert [seen(report, path) for path in called] == [f"my_state{i}" for i in range(5)]


def test_by_default_nothing_is_rendered_more_than_once() -> None:
    """“This flag should default to `1`”."""
    report = run(REPEATED.replace("LIMIT", ""))
    assert ids(report).count("my_stateA") == 1


@pytest.mark.parametrize("limit", ["delayed_repeat_limit=None", "delayed_repeat_limit=7"])
def test_the_limit_is_any_positive_integer_or_none(limit: str) -> None:
    """“`delayed_repeat_limit` can be set to any positive integer, or `None`”."""
    assert ids(run(REPEATED.replace("LIMIT", limit))).count("my_stateA") == 5


def test_over_the_limit_the_render_does_not_occur_and_an_error_is_returned() -> None:
    """“the exceeding render should not occur, and instead return and issue an error”."""
    report = run(REPEATED.replace("LIMIT", ""))
    assert value_of(report, "my_state1>dependant_block_A") is False
    assert "may be rendered once, and my_state0 used that up" in comment_of(
        report, "my_state1>dependant_block_A"
    )


def test_over_the_limit_the_build_goes_on() -> None:
    """“it should not cause an entire build to fail unless `failhard: True`”: without."""
    report = run(REPEATED.replace("LIMIT", "") + "\n    last:\n      test.nop: []\n")
    assert result_of(report, "my_state4").ran
    assert result_of(report, "last").ran


@pytest.mark.parametrize("config", [{"failhard": True}, {}])
def test_over_the_limit_failhard_ends_the_build(config: dict[str, object]) -> None:
    """“… unless `failhard: True`”: in the configuration or on the state."""
    text = REPEATED.replace("LIMIT", "")
    if not config:
        text = text.replace("- delayed_render", "- failhard: true\n        - delayed_render")
    report = run(text, config=config)
    assert result_of(report, "my_state1").ran
    assert not result_of(report, "my_state2").ran
    assert "failhard" in report.stopped


def test_the_limit_stands_on_the_tag_of_a_block() -> None:
    """“1. The `delayed_block` hashbang … `delayed_repeat_limit=3`”."""
    report = run(REPEATED.replace("LIMIT", "delayed_repeat_limit=3"))
    assert ids(report).count("my_stateA") == 3
    assert "may be rendered 3 times" in comment_of(report, "my_state3>dependant_block_A")


CALLS_A_FILE = """
    {% for i in range(5) %}
    my_state{{ i }}:
      test.nop:
        - delayed_render:
          - sls: my_delayed_sls
    {% endfor %}
    """


def test_the_limit_stands_at_the_top_of_an_sls_file() -> None:
    """“2. The top of an sls file”."""
    file = "# my_delayed_sls.sls\n#!delayed_sls delayed_repeat_limit=3\n\nmy_stateA:\n  test.nop: []\n"
    report = run(CALLS_A_FILE, {"my_delayed_sls.sls": file})
    assert ids(report).count("my_stateA") == 3


def test_delayed_sls_must_stand_at_the_top() -> None:
    """“It must be placed at the top of a file”."""
    file = "my_stateA:\n  test.nop: []\n#!delayed_sls delayed_repeat_limit=3\n"
    report = run(CALLS_A_FILE, {"my_delayed_sls.sls": file})
    assert ids(report).count("my_stateA") == 1


def test_a_file_has_one_delayed_sls_at_most() -> None:
    """“There can only be at most one such hashbang in a `delayed_render` file.”"""
    told = problem(
        """
        a:
          test.nop:
            - delayed_render:
              - sls: other
        """,
        {"other.sls": "#!delayed_sls\n# a comment\n#!delayed_sls scoped\na:\n  test.nop: []\n"},
    )
    assert told.startswith("other.sls:3: this file has two '#!delayed_sls' lines [delayed-sls-twice]")
    assert "first: other.sls:1" in told


def test_delayed_sls_in_a_file_used_normally_is_a_comment() -> None:
    """“the hashbang will have no effect, and be treated like any other YAML comment”."""
    report = run("#!delayed_sls delayed_repeat_limit=nonsense\na:\n  test.nop: []\n")
    assert ids(report) == ["a"]


def test_the_configuration_has_an_alternative_default() -> None:
    """“3. In the master configuration, as an alternative default value.”"""
    report = run(REPEATED.replace("LIMIT", ""), config={"delayed_repeat_limit": 3})
    assert ids(report).count("my_stateA") == 3
