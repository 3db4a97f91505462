"""The decisions, “Isolation and what others see”: a test for each sentence."""

from __future__ import annotations

import pytest
from tests.delayed.thing import (
    answer_of,
    attempted,
    comment_of,
    paths,
    problem,
    result_of,
    run,
    value_of,
)
from tests.kit import ids

CALLER = "a:\n  thing.made:\n    - delayed_render:\n      - block: B\n"


def block(inside: str, name: str = "B", words: str = "") -> str:
    return f"#!delayed_block {name} {words}\n{inside}\n#!end_delayed_block\n"


FINE = "later:\n  thing.made: []"
CHANGES = "later:\n  thing.made:\n    - changed: true"
FAILS = "later:\n  thing.made:\n    - fails: true"


def waiting(kind: str, id_: str = "w") -> str:
    return f"{id_}:\n  thing.made:\n    - {kind}:\n      - thing: a\n"


# -- ids and requisites ----------------------------------------------------------------------------------


def test_ids_may_repeat_across_scopes() -> None:
    """“Ids may repeat across scopes.”"""
    inner = "a:\n  thing.made:\n    - delayed_render:\n      - block: C\n" + block(
        "a:\n  thing.made: []", "C"
    )
    assert paths(run(CALLER + block(inner))) == ["a", "a>B#1>a", "a>B#1>a>C#1>a"]


@pytest.mark.parametrize(
    "kind", ["require", "watch", "onchanges", "onfail", "prereq", "listen", "require_in", "watch_in"]
)
def test_no_requisite_goes_into_a_block(kind: str) -> None:
    """“No requisite crosses a scope in either direction; the error says where the id does exist”."""
    told = problem(CALLER + f"o:\n  thing.made:\n    - {kind}:\n      - thing: later\n" + block(FINE))
    assert "it is inside block 'B' (main.sls:9)" in told


@pytest.mark.parametrize(
    "kind", ["require", "watch", "onchanges", "onfail", "prereq", "listen", "require_in"]
)
def test_no_requisite_goes_out_of_a_block(kind: str) -> None:
    """The same sentence, the other direction."""
    report = run(CALLER + block(f"later:\n  thing.made:\n    - {kind}:\n      - thing: a"))
    told = comment_of(report, "a>B")
    assert "it is outside of this block" in told
    assert "main.sls:9" in told


def test_no_requisite_goes_from_one_block_to_another() -> None:
    """The same sentence, sideways."""
    text = (
        CALLER
        + "      - block: C\n"
        + block(FINE)
        + block(waiting("require").replace("thing: a", "thing: later"), "C")
    )
    report = run(text)
    assert "it is inside block 'B'" in comment_of(report, "a>C")


# -- local to a frame ------------------------------------------------------------------------------------


def test_include_inside_a_frame_is_local_to_it() -> None:
    """“`include` … inside a frame are local to it”: also what the run has had already."""
    report = run(
        "include:\n  - lib\n"
        + CALLER
        + block("include:\n  - lib\nx:\n  test.nop:\n    - require:\n      - sls: lib"),
        {"lib.sls": "l:\n  test.nop: []\n"},
    )
    assert paths(report) == ["l", "a", "a>B#1>l", "a>B#1>x"]


def test_an_included_file_of_a_frame_may_have_blocks_of_its_own() -> None:
    """“top-level everything inside a frame”."""
    report = run(
        CALLER + block("include:\n  - lib"),
        {
            "lib.sls": "l:\n  test.nop:\n    - delayed_render:\n      - block: L\n"
            + block("x:\n  test.nop: []", "L")
        },
    )
    assert paths(report) == ["a", "a>B#1>l", "a>B#1>l>L#1>x"]


def test_extend_inside_a_frame_is_local_to_it() -> None:
    """“`extend` …”."""
    lib = {"lib.sls": "l:\n  test.nop: []\n"}
    extend = "include:\n  - lib\nextend:\n  l:\n    test.nop:\n      - more: 1"
    report = run("include:\n  - lib\n" + CALLER + block(extend), lib)
    assert "more" not in answer_of(report, "l").chunk.args
    assert answer_of(report, "a>B#1>l").chunk.args["more"] == 1


def test_extend_does_not_reach_out_of_a_frame() -> None:
    """The same, for an ID of the outer scope."""
    report = run(CALLER + block("extend:\n  a:\n    thing.made:\n      - more: 1"))
    assert value_of(report, "a>B") is False
    assert "main.sls:" in comment_of(report, "a>B")


def test_exclude_inside_a_frame_is_local_to_it() -> None:
    """“`exclude` …”."""
    report = run(
        CALLER + "x:\n  test.nop: []\n" + block("exclude:\n  - id: x\nx:\n  test.nop: []\ny:\n  test.nop: []")
    )
    assert paths(report) == ["a", "a>B#1>y", "x"]


def test_order_inside_a_frame_is_local_to_it() -> None:
    """“`order` …”."""
    inside = "z:\n  test.nop:\n    - order: last\ny:\n  test.nop: []\nx:\n  test.nop:\n    - order: first"
    assert ids(run(CALLER + "w:\n  test.nop:\n    - order: first\n" + block(inside))) == [
        "w",
        "a",
        "x",
        "y",
        "z",
    ]


def test_listen_inside_a_frame_reacts_at_its_end() -> None:
    """“`listen` …”."""
    inside = CHANGES + "\nheard:\n  thing.made:\n    - listen:\n      - thing: later"
    report = run(CALLER + "next:\n  test.nop: []\n" + block(inside))
    assert paths(report) == ["a", "a>B#1>later", "a>B#1>heard", "a>B#1>listener_heard", "next"]


# -- roll-up ---------------------------------------------------------------------------------------------


def test_requisites_on_the_caller_read_its_effective_result() -> None:
    """“Requisites on the caller read its **effective** result: its own, and everything it spawned”."""
    report = run(CALLER + waiting("require") + block(FAILS))
    assert (value_of(report, "a"), value_of(report, "w"), result_of(report, "w").ran) == (True, False, False)
    assert comment_of(report, "w") == "requisite failed: main.a (root cause: a>B#1>later)"


def test_onfail_on_a_caller_runs_when_a_frame_failed() -> None:
    """The same sentence, for `onfail`."""
    assert result_of(run(CALLER + waiting("onfail") + block(FAILS)), "w").ran
    assert not result_of(run(CALLER + waiting("onfail") + block(FINE)), "w").ran


@pytest.mark.parametrize(("inside", "fires"), [(CHANGES, True), (FINE, False)])
def test_watch_and_onchanges_on_a_caller_fire_when_a_frame_changed_something(
    inside: str, fires: bool
) -> None:
    """“Same for changes: `watch`/`onchanges` on a caller fire when a frame changed something.”"""
    report = run(
        CALLER + waiting("watch") + waiting("onchanges", "o") + waiting("listen", "l") + block(inside)
    )
    assert (comment_of(report, "w") == "reacted") is fires
    assert result_of(report, "o").ran is fires
    assert ("listener_l" in ids(report)) is fires


def test_a_change_deep_inside_counts() -> None:
    """“everything it spawned (frames, sub states)”."""
    inner = "b:\n  thing.made:\n    - delayed_render:\n      - block: C\n" + block(CHANGES, "C")
    assert result_of(run(CALLER + waiting("onchanges") + block(inner)), "w").ran


def test_the_callers_own_result_stays_untouched() -> None:
    """“The caller's own reported result stays untouched.”"""
    report = run(CALLER + block(FAILS))
    assert (value_of(report, "a"), result_of(report, "a").changes) == (True, {})


def test_the_repeat_limit_error_does_not_roll_up() -> None:
    """“The repeat-limit error does not roll up.”"""
    report = run(CALLER.replace("a:", "first:", 1) + CALLER + waiting("require") + block(FINE))
    assert (value_of(report, "a>B"), value_of(report, "w")) == (False, True)


# -- failhard --------------------------------------------------------------------------------------------


def test_failhard_inside_a_frame_ends_the_whole_job() -> None:
    """“`failhard` inside a frame ends the whole job; targets not reached get placeholders.”"""
    inside = FAILS + "\n    - failhard: true\nnever:\n  test.nop: []"
    text = CALLER + "      - block: C\n" + "last:\n  thing.made:\n    - delayed_render:\n      - block: C\n"
    report = run(text + block(inside) + block(FINE, "C", "delayed_repeat_limit=2"))
    assert paths(report) == ["a", "a>B#1>later", "a>B#1>never", "a>C", "last", "last>C"]
    assert [result_of(report, path).ran for path in paths(report)] == [True, True, False, False, False, False]
    assert comment_of(report, "a>C").startswith("not rendered (failhard): ")
    assert "later failed and is marked failhard" in report.stopped


def test_a_failhard_caller_whose_frame_failed_ends_the_job() -> None:
    """“Requisites on the caller read its effective result”, and so does `failhard`."""
    report = run(CALLER + "    - failhard: true\n" + "last:\n  test.nop: []\n" + block(FAILS))
    assert not result_of(report, "last").ran


# -- frames that are empty or wrong ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "inside", ["", "# only a comment", "{% if false %}\nx:\n  test.nop: []\n{% endif %}"]
)
def test_a_frame_without_states_is_a_success(inside: str) -> None:
    """“A frame that yields no states is a success with zero states.”"""
    report = run(CALLER + waiting("require") + block(inside))
    assert paths(report) == ["a", "w"]
    assert (report.frames[0].states, value_of(report, "w")) == (0, True)


@pytest.mark.parametrize(
    "inside",
    ["{{ missing }}", "x: [", "x:\n  nothing.there: []", "x:\n  test.nop:\n    - require:\n      - y: z"],
)
def test_what_is_wrong_in_a_frame_is_one_failed_result_at_the_block(inside: str) -> None:
    """“one failed result anchored at the block …; the run goes on; it rolls up”."""
    outcome = attempted(CALLER + waiting("require") + "last:\n  test.nop: []\n" + block(inside))
    report = outcome.report
    assert report is not None
    assert (value_of(report, "w"), value_of(report, "last")) == (False, True)
    assert outcome.code == 2


def test_the_failed_result_names_the_place_shows_the_lines_and_the_caller() -> None:
    """The same sentence: “(file:line, excerpt, caller)”."""
    told = comment_of(run(CALLER + block("x:\n  test.nop:\n    - a: {{ missing }}")), "a>B")
    assert "main.sls:5), called by a:" in told
    assert "8 |     - a: {{ missing }}" in told


def test_a_half_applied_job_never_fails_to_compile() -> None:
    """“Never "Data failed to compile" for a half-applied job.”"""
    outcome = attempted(CALLER + block("{% broken"))
    assert (outcome.texts, len(outcome.answers)) == ([], 2)


def test_a_warning_of_a_frame_is_reported_once() -> None:
    """What a frame warns of is not lost, and not repeated for each of its renders."""
    inside = "later:\n  thing.made:\n    - use:\n      - thing: nobody"
    outcome = attempted(
        CALLER + CALLER.replace("a:", "b:", 1) + block(inside, words="delayed_repeat_limit=2")
    )
    (told,) = outcome.warnings
    assert told.startswith("main.sls:13:9: 'use' of 'later' names thing 'nobody'")
