"""The decisions, “Test mode” and the job's snapshot: a test for each sentence."""

from __future__ import annotations

import pytest
from tests.delayed.thing import attempted, comment_of, paths, result_of, run, seen, value_of

from saltern.report.verdict import changed, failed, totals

CALLER = """
    a:
      thing.made:
        - data: {ip: 10.0.0.7}
        - changed: CHANGED
        - delayed_render:
          - block: B
            when: WHEN
    #!delayed_block B
    later:
      thing.made:
        - changed: true
        - seen: {{ prev_ret.data.ip }}
    #!end_delayed_block
    """


def text(changed: bool, when: str = "success") -> str:
    return CALLER.replace("CHANGED", str(changed)).replace("WHEN", when)


def test_a_caller_that_is_fine_renders_for_real_and_its_frame_is_tested() -> None:
    """“caller True → render for real and run the frame in test mode”."""
    report = run(text(False), test=True)
    assert (value_of(report, "a"), value_of(report, "a>B#1>later")) == (True, None)
    assert seen(report, "a>B#1>later") == "10.0.0.7"


@pytest.mark.parametrize("when", ["success", "always", "changes"])
def test_a_caller_that_would_change_is_not_rendered(when: str) -> None:
    """“Caller None (would change) → not rendered: … result None, "known after X is applied"”."""
    report = run(text(True, when), test=True)
    assert paths(report) == ["a", "a>B"]
    placeholder = result_of(report, "a>B")
    assert (placeholder.outcome.value, placeholder.ran) == (None, False)
    assert placeholder.comment == "not rendered: known after a is applied"


def test_a_block_for_failures_is_not_expected_of_a_caller_that_would_change() -> None:
    """“Never render on guesses.”"""
    assert value_of(run(text(True, "failure"), test=True), "a>B") is True


def test_what_is_deferred_is_no_change_and_no_failure() -> None:
    """“counted as *deferred*, not as a change and not as a failure”."""
    report = run(text(True), test=True)
    counts = totals(report)
    assert (counts.deferred, counts.unchanged, counts.failed) == (1, 1, 0)
    assert not failed(report)


def test_only_a_deferred_frame_would_not_say_that_something_changes() -> None:
    """The same sentence: of the placeholder alone nothing follows."""
    report = run(text(True), test=True)
    report.answers = [answer for answer in report.answers if answer.path == "a>B"]
    assert not changed(report)


def test_who_requires_a_caller_that_would_change_is_tested() -> None:
    """A deferred frame keeps nobody from being tested."""
    report = run(
        text(True) + "\n    w:\n      thing.made:\n        - require:\n          - thing: a\n", test=True
    )
    assert result_of(report, "w").ran


def test_a_failing_caller_is_failing_in_test_mode_too() -> None:
    """“Never render on guesses”: a caller that fails already now."""
    report = run(text(False).replace("- data", "- fails: true\n        - data"), test=True)
    assert comment_of(report, "a>B") == "not rendered: a failed"


def test_nested_frames_are_deferred_where_they_become_unknown() -> None:
    """“one placeholder”: inner callers that would change defer their own frames."""
    inner = (
        "a:\n  test.nop:\n    - delayed_render:\n      - block: B\n"
        "#!delayed_block B\nb:\n  thing.made:\n    - changed: true\n    - delayed_render:\n      - block: C\n"
        "#!delayed_block C\n{{ undefined }}\n#!end_delayed_block\n#!end_delayed_block\n"
    )
    report = run(inner, test=True)
    assert paths(report) == ["a", "a>B#1>b", "a>B#1>b>C"]
    assert comment_of(report, "a>B#1>b>C") == "not rendered: known after b is applied"


def test_failhard_ends_no_test_run() -> None:
    """As everywhere: a test run looks at everything."""
    fails = text(False).replace("- changed: true", "- fails: true\n        - failhard: true")
    report = run(fails + "\n    last:\n      test.nop: []\n", test=True)
    assert result_of(report, "last").ran


# -- a snapshot --------------------------------------------------------------------------------------------


def test_a_change_of_the_tree_while_it_runs_does_not_change_its_blocks() -> None:
    """“The job's source text is a snapshot: a change of the tree mid-run does not change its blocks.”"""
    report = run(
        """
        a:
          cmd.run:
            - name: 'for f in main later; do echo "no: [" > {{ tplpath.rpartition("/")[0] }}/$f.sls; done'
            - delayed_render:
              - block: B
              - sls: later
        #!delayed_block B
        of the block:
          test.nop: []
        #!end_delayed_block
        """,
        {"later.sls": "of the file:\n  test.nop: []\n"},
    )
    assert paths(report) == ["a", "a>B#1>of the block", "a>sls:later#1>of the file"]


def test_trees_without_tags_have_no_frames_and_no_maker() -> None:
    """“Zero cost when no tag is present: one substring test per file.”"""
    outcome = attempted("a:\n  test.nop: []\n")
    assert outcome.report is not None
    assert (outcome.report.frames, outcome.report.unused) == ([], [])
