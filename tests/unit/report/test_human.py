"""What a person reads after a run."""

from __future__ import annotations

import io
import re
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.language.events import Answer, Report
from saltern.language.result import Outcome
from saltern.report.human import show
from saltern.report.outputs import OutputOptions
from saltern.report.text import columns

if TYPE_CHECKING:
    from tests.unit.report.conftest import Make

CLOCK = time.strftime("%H:%M:%S", time.localtime(1_704_110_400)) + ".250000"
RED, GREEN, CYAN, YELLOW = "\x1b[0;31m", "\x1b[0;32m", "\x1b[0;36m", "\x1b[1;33m"


def shown(*answers: Answer, stopped: str = "", **options: Any) -> str:
    out = io.StringIO()
    show(Report(answers=list(answers), stopped=stopped), OutputOptions(**options), out)
    return out.getvalue()


def body(text: str) -> list[str]:
    """The lines between the label and the summary."""
    return text.split("\n\nSummary for")[0].splitlines()[1:]


def test_the_layout_is_that_of_salt(make: Make) -> None:
    text = shown(
        make("fail", Outcome.FAILED, "no such\nuser", number=1, took=0.25),
        make(
            "conf",
            comment="updated",
            name="/etc/x",
            changes={"mode": {"new": "0644", "old": None}, "list": ["a", {"k": 1}]},
            warnings=("old word",),
        ),
    )
    assert (
        text
        == f"""local:
----------
          ID: conf
    Function: file.managed
        Name: /etc/x
      Result: True
     Comment: updated
     Started: {CLOCK}
    Duration: 1.0 ms
     Changes:
              ----------
              list:
                  - a
                  |_
                    ----------
                    k:
                        1
              mode:
                  ----------
                  new:
                      0644
                  old:
                      None
    Warnings: old word
----------
          ID: fail
    Function: file.managed
      Result: False
     Comment: no such
              user
       Where: web.sls:14
     Started: {CLOCK}
    Duration: 250.0 ms
     Changes:

Summary for local
------------
Succeeded: 1 (changed=1)
Failed:    1
Warnings:  1
------------
Total states run:     2
Total run time: 251.000 ms
"""
    )


def test_the_numbers_of_the_summary_stand_in_one_column(make: Make) -> None:
    text = shown(*(make(f"s{n}", number=n, took=0.5) for n in range(12)), state_output="terse")
    assert text.partition("Summary for local\n")[2] == (
        "-------------\nSucceeded: 12\nFailed:     0\n-------------\n"
        "Total states run:     12\nTotal run time:    6.000 s\n"
    )


def test_an_empty_run_says_so() -> None:
    assert "    no states to run\n" in shown()


def test_why_a_run_ended_early_is_the_last_word(make: Make) -> None:
    assert shown(make(), stopped="failhard").endswith("\nStopped early: failhard\n")


@pytest.mark.parametrize(
    ("mode", "full"),
    [
        ("full", {"clean", "changed", "failed", "differs"}),
        ("terse", set()),
        ("mixed", {"failed"}),
        ("mixed_id", {"failed"}),
        ("changes", {"changed", "failed", "differs"}),
        ("filter", {"changed", "clean"}),
        ("nonsense", {"clean", "changed", "failed", "differs"}),
    ],
)
def test_each_mode_has_its_full_blocks(make: Make, mode: str, full: set[str]) -> None:
    text = shown(
        make("clean"),
        make("changed", changes={"a": 1}, number=1),
        make("failed", Outcome.FAILED, number=2),
        make("differs", Outcome.WOULD_CHANGE, number=3),
        state_output=mode,
        state_output_exclude=(None,),
        state_output_terse=("False",),
    )
    assert set(re.findall("ID: (.*)", text)) == full


def test_a_terse_line_has_all_in_one(make: Make) -> None:
    text = shown(make("i", name="n", warnings=("careful",)), state_output="terse")
    assert body(text) == [
        "  Warning: careful",
        f" Name: n - Function: file.managed - Result: Clean - Started: {CLOCK} - Duration: 1.0 ms",
    ]
    text = shown(
        make("i", Outcome.WOULD_CHANGE, name="n"), state_output="terse_id", state_output_profile=False
    )
    assert body(text) == [" Name: i - Function: file.managed - Result: Differs"]
    assert "run time" not in text


def test_a_table_has_aligned_columns(make: Make) -> None:
    answers = (make("a"), make("b", Outcome.FAILED, number=1, took=1.5, function="pkg.installed"))
    text = shown(*answers, state_output="terse", state_tabular=True)
    assert body(text) == [
        f"{CLOCK}         1.0 ms file.managed              Clean   a",
        f"{CLOCK}      1500.0 ms pkg.installed             Failed  b",
    ]
    assert body(shown(*answers, state_output="terse", state_tabular="{4}: {3}")) == ["a: Clean", "b: Failed"]
    assert body(shown(*answers, state_output="terse", state_tabular="{9}")) == body(text)


@pytest.mark.parametrize("option", [{"state_verbose": False}, {"state_output_diff": True}])
def test_clean_states_can_be_hidden_and_are_still_counted(make: Make, option: dict[str, Any]) -> None:
    text = shown(make("clean"), make("new", changes={"a": 1}, number=1), **option)
    assert re.findall("ID: (.*)", text) == ["new"]
    assert "Succeeded: 2 (changed=1)" in text


def test_percentages_on_request(make: Make) -> None:
    text = shown(
        *(make(f"s{n}", number=n) for n in range(2)), make("f", Outcome.FAILED), state_output_pct=True
    )
    assert "Success %: 66.67\nFailure %: 33.33\n" in text


def test_equal_answers_of_one_id_can_be_one(make: Make) -> None:
    answers = [make("pkgs", name=n, number=i, changes={"v": i}) for i, n in enumerate(("vim", "git"))]
    text = shown(*answers, make("pkgs", Outcome.FAILED, name="x", number=2), state_compress_ids=True)
    assert re.findall("ID: (.*)", text) == ["pkgs (2)", "pkgs"]
    assert "Duration: 2.0 ms" in text
    assert re.findall("^ {14}(git|vim):", text, re.M) == ["git", "vim"]


def test_blocked_states_are_reported_under_their_cause(make: Make) -> None:
    root = make("root", Outcome.FAILED, "broken")
    blocked = [
        make(f"b{n}", Outcome.FAILED, ran=False, number=n, extra={"root_cause": [root.chunk.tag]})
        for n in range(1, 13)
    ]
    text = shown(root, *blocked)
    assert re.findall("ID: (.*)", text) == ["root"]
    names = ", ".join(f"b{n}" for n in range(1, 11))
    assert f"\n    also not run because of this: 12 states ({names} …)\n" in text
    assert "Failed:    13" in text
    assert len(re.findall("ID: (.*)", shown(root, *blocked, expand=True))) == 13
    assert "    also not run because of this: 12 states" in shown(root, *blocked, state_output="terse")
    assert "also not run because" in shown(root, *blocked, state_compress_ids=True)


def test_a_blocked_state_without_known_cause_is_shown_itself(make: Make) -> None:
    text = shown(make("b", Outcome.FAILED, ran=False, extra={"root_cause": ["gone"]}))
    assert "ID: b\n" in text


def test_colours_tell_the_outcome(make: Make) -> None:
    text = shown(
        make("clean"),
        make("changed", changes={"diff": "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same"}, number=1),
        make("failed", Outcome.FAILED, number=2),
        make("differs", Outcome.WOULD_CHANGE, number=3),
        colour=True,
    )
    assert text.startswith("\x1b[0;33mlocal:")
    for colour, id in ((GREEN, "clean"), (CYAN, "changed"), (RED, "failed"), (YELLOW, "differs")):
        assert f"{colour}          ID: {id}\x1b[0m\n" in text
    assert f"{RED}-old\x1b[0m\n" in text
    assert f"{GREEN}+new\x1b[0m\n" in text
    assert f"{CYAN}@@ -1 +1 @@\x1b[0m\n" in text


anything = st.text(st.characters(exclude_categories=()))


@given(anything, anything, st.sampled_from(["full", "terse"]), st.booleans())
def test_no_control_character_reaches_the_terminal(
    make: Make, text: str, other: str, mode: str, table: bool
) -> None:
    answer = make(text or "x", Outcome.FAILED, other, name=other, warnings=(text,), changes={text: [other]})
    written = shown(answer, state_output=mode, state_tabular=table, label=text or "local")
    written.encode()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", written)


words = st.lists(st.text("abcdefgh日本", min_size=1, max_size=9), max_size=40).map(" ".join)


@given(words, st.integers(40, 100), st.sampled_from(["full", "terse"]))
def test_nothing_is_wider_than_the_terminal(make: Make, text: str, width: int, mode: str) -> None:
    answer = make("id", Outcome.FAILED, text, warnings=(text,), changes={"key": {"new": [text], "old": text}})
    written = shown(answer, width=width, state_output=mode)
    for line in written.splitlines():
        assert columns(line) <= width, line
    assert set(text.split()) <= set(re.findall(r"[^\s]+", written))


def test_a_stream_that_lacks_a_character_gets_an_escape(make: Make) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    show(Report(answers=[make("größe")]), OutputOptions(), out)
    out.flush()
    assert b"gr\\xf6\\xdfe" in raw.getvalue()
