"""The decisions, “When a frame runs”: a test for each sentence."""

from __future__ import annotations

import pytest
from tests.delayed.thing import (
    answer_of,
    attempted,
    comment_of,
    paths,
    result_of,
    run,
    seen,
    value_of,
)
from tests.kit import ids

from saltern.language.events import ChunkFinished, FrameFinished, FrameStarted

BLOCK = """
    #!delayed_block B
    later:
      test.nop:
        - seen: {{ prev_ret | tojson }}
    #!end_delayed_block
    """


def caller(words: str = "", entry: str = "", fun: str = "thing.made") -> str:
    """A state ``a`` that delays the block B; ``words`` are arguments, ``entry`` more keys of the entry."""
    more = "".join(f"        - {word}\n" for word in words.split("; ") if word)
    when = f"            {entry}\n" if entry else ""
    return f"\n    a:\n      {fun}:\n{more}        - delayed_render:\n          - block: B\n{when}"


# -- after the caller's result is final ----------------------------------------------------------------


def test_a_frame_runs_once_after_the_last_retry() -> None:
    """“After the caller's result is final (after `retry` …)”."""
    words = "name: retried; after: 3; retry: {attempts: 5, interval: 0}"
    report = run(caller(words, fun="thing.grows") + BLOCK)
    assert paths(report) == ["a", "a>B#1>later"]
    returned = seen(report, "a>B#1>later")
    assert isinstance(returned, dict)
    assert returned["data"] == {"calls": 3}


def test_a_frame_waits_for_check_cmd() -> None:
    """“After the caller's result is final (after … `check_cmd` …)”."""
    report = run(caller("check_cmd: ['false']") + BLOCK)
    assert value_of(report, "a") is False
    assert comment_of(report, "a>B") == "not rendered: a failed"


def test_a_frame_sees_what_mod_watch_said() -> None:
    """“After the caller's result is final (after … `mod_watch` …)”."""
    report = run(
        "\n    w:\n      thing.made:\n        - changed: true\n" + caller("watch: [{thing: w}]") + BLOCK
    )
    returned = seen(report, "a>B#1>later")
    assert isinstance(returned, dict)
    assert (returned["comment"], returned["data"]) == ("reacted", {"reacted": 1})


def test_a_frame_waits_for_sub_states() -> None:
    """“After the caller's result is final (after … sub states)”."""
    report = run(caller(fun="thing.steps") + BLOCK)
    assert ids(report) == ["a", "a step", "later"]
    returned = seen(report, "a>B#1>later")
    assert isinstance(returned, dict)
    assert [step["name"] for step in returned["sub_states"]] == ["a step"]


def test_a_failed_sub_state_is_a_failed_caller() -> None:
    """The same sentence: what is final is the caller with its steps."""
    report = run(caller("fails: true", fun="thing.steps") + BLOCK)
    assert comment_of(report, "a>B") == "not rendered: a failed"


def test_a_frame_runs_before_the_next_chunk() -> None:
    """“before the next chunk”."""
    assert ids(run(caller() + BLOCK + "\n    next:\n      test.nop: []\n")) == ["a", "later", "next"]


def test_frames_of_a_caller_that_was_pulled_early_run_right_there() -> None:
    """“If the caller was pulled early as a requisite, its frames run right there”."""
    report = run(
        "\n    needs:\n      test.nop:\n        - require:\n          - thing: a\n"
        "    other:\n      test.nop: []\n" + caller() + BLOCK
    )
    assert ids(report) == ["a", "later", "needs", "other"]


# -- whether it renders --------------------------------------------------------------------------------

FIRST = """
    fine:
      thing.made: []
    bad:
      thing.made:
        - fails: true
    """

# What the caller says of itself, and what then becomes of its target for each `when`: True for
# rendered, else the result of the answer that stands for it.
Fate = str
R, F, S = "rendered", "False", "True"
TABLE: dict[str, tuple[Fate, Fate, Fate, Fate]] = {
    #                                       success always changes failure
    "": (R, R, S, S),
    "changed: true": (R, R, R, S),
    "fails: true": (F, R, F, R),
    "fails: true; changed: true": (F, R, F, R),
    "require: [{thing: bad}]": (F, R, F, R),
    "onlyif: 'false'": (R, R, S, S),
    "unless: 'true'": (R, R, S, S),
    "creates: /": (R, R, S, S),
    "onchanges: [{thing: fine}]": (S, R, S, S),
    "onfail: [{thing: fine}]": (S, R, S, S),
    "prereq: [{thing: fine}]": (S, R, S, S),
    "onfail: [{thing: bad}]; changed: true": (R, R, R, S),
}


@pytest.mark.parametrize("place", range(4), ids=["success", "always", "changes", "failure"])
@pytest.mark.parametrize("words", TABLE)
def test_what_becomes_of_a_target(words: str, place: int) -> None:
    """“By default a frame renders iff the caller ran and its result is not False.” … “`when:` overrides.”"""
    when = ("success", "always", "changes", "failure")[place]
    report = run(FIRST + caller(words, f"when: {when}") + BLOCK)
    fate = TABLE[words][place]
    if fate == R:
        assert value_of(report, "a>B#1>later") is True
    else:
        stand_in = result_of(report, "a>B")
        assert (str(stand_in.outcome.value), stand_in.ran) == (fate, False)
        assert stand_in.comment.startswith("not rendered: a ")


def test_success_is_what_no_when_means() -> None:
    """“success (default)”."""
    assert paths(run(caller() + BLOCK)) == ["a", "a>B#1>later"]
    assert paths(run(caller("fails: true") + BLOCK)) == ["a", "a>B"]


def test_each_target_of_a_failed_caller_has_a_placeholder_that_says_why() -> None:
    """“Caller failed, or its requisites failed → one placeholder result per target: False, not run”."""
    text = (
        FIRST
        + """
    a:
      thing.made:
        - require:
          - thing: bad
        - delayed_render:
          - block: B
          - sls: other
    """
        + BLOCK
    )
    report = run(text, {"other.sls": ""})
    assert paths(report)[-2:] == ["a>B", "a>sls:other"]
    assert comment_of(report, "a>B") == "not rendered: a could not run"
    assert answer_of(report, "a>B").chunk.mark().line > 0


def test_a_caller_whose_thing_is_there_already_renders() -> None:
    """“Caller skipped by `onlyif`/`unless`/`creates` → render (it usually means "already done" …)”."""
    report = run(caller("unless: 'true'") + BLOCK)
    returned = seen(report, "a>B#1>later")
    assert isinstance(returned, dict)
    assert returned["result"] is True


def test_wrong_words_for_when_are_reported() -> None:
    """“success (default) | always | changes | failure”."""
    (told,) = attempted(caller("", "when: alway") + BLOCK).texts
    assert "has 'alway' for 'when' [delayed-entry]" in told
    assert "did you mean 'always'?" in told


# -- in turn -------------------------------------------------------------------------------------------


def test_a_target_is_rendered_only_after_the_one_before_has_executed() -> None:
    """“each is rendered only after the one before it has *executed*”."""
    report = run(
        """
        a:
          test.nop:
            - delayed_render:
              - block: writes
              - block: reads
        #!delayed_block writes
        w:
          cmd.run:
            - name: echo written > {{ pillar.scratch }}/f
        #!end_delayed_block
        #!delayed_block reads
        r:
          test.nop:
            - seen: {{ salt['file.read'](pillar.scratch ~ '/f') }}
        #!end_delayed_block
        """
    )
    assert seen(report, "a>reads#1>r") == "written"


def test_listening_does_not_render() -> None:
    """“`listen`'s end-of-run call … never render and never count”."""
    report = run(
        "\n    w:\n      thing.made:\n        - changed: true\n" + caller("listen: [{thing: w}]") + BLOCK
    )
    assert paths(report) == ["w", "a", "a>B#1>later", "listener_a"]


def test_the_trial_run_of_prereq_does_not_render() -> None:
    """“the trial run of `prereq` … never render and never count”."""
    report = run(
        "\n    first:\n      thing.made:\n        - prereq:\n          - thing: a\n"
        + caller("changed: true")
        + BLOCK
    )
    assert paths(report) == ["first", "a", "a>B#1>later"]


def test_retries_do_not_render_and_do_not_count() -> None:
    """“… and retries never render and never count”."""
    words = "name: never; after: 99; retry: {attempts: 3, interval: 0}"
    report = run(caller(words, "when: failure", fun="thing.grows") + BLOCK)
    assert paths(report) == ["a", "a>B#1>later"]


# -- parallel ------------------------------------------------------------------------------------------

PARALLEL = """
    {% for name in 'abc' %}
    {{ name }}:
      cmd.run:
        - name: sleep 0.0{{ loop.index }}
        - parallel: true
        - delayed_render:
          - block: B
    {% endfor %}
    #!delayed_block B delayed_repeat_limit=3
    {% for i in range(3) %}
    later{{ i }}:
      test.nop: []
    {% endfor %}
    #!end_delayed_block
    """


def test_the_frame_of_a_parallel_caller_becomes_due_when_it_has_ended() -> None:
    """“`parallel: True` caller: the frame becomes due when the process has ended”."""
    outcome = attempted(PARALLEL)
    ended: set[str] = set()
    for event in outcome.events:
        if isinstance(event, ChunkFinished):
            ended.add(event.answer.path)
        elif isinstance(event, FrameStarted):
            assert event.frame.path.partition(">")[0] in ended
    assert len(outcome.answers) == 12


def test_frames_never_run_beside_each_other() -> None:
    """“frames never run concurrently with each other”."""
    depth = 0
    for event in attempted(PARALLEL).events:
        depth += isinstance(event, FrameStarted)
        depth -= isinstance(event, FrameFinished)
        assert depth in (0, 1)


def test_who_requires_a_parallel_caller_waits_for_its_frames() -> None:
    """“whoever requires the caller waits for its frames too”."""
    report = run(PARALLEL + "\n    needs:\n      test.nop:\n        - require:\n          - cmd: c\n")
    assert paths(report).index("needs") > paths(report).index(f"{path_of_c(paths(report))}>later2")


def path_of_c(names: list[str]) -> str:
    """The frame of ``c``, whichever number it got."""
    return next(name.rpartition(">")[0] for name in names if name.startswith("c>"))


# -- names ---------------------------------------------------------------------------------------------

NAMES = """
    a:
      test.nop:
        - names: [x, y]
        - delayed_render:
          - block: B
    #!delayed_block B LIMIT
    later:
      test.nop:
        - seen: {{ prev_ret.name }}
    #!end_delayed_block
    """


def test_names_give_one_frame_for_each_name() -> None:
    """“`names:` gives one caller per name, so one frame per name.”"""
    report = run(NAMES.replace("LIMIT", "delayed_repeat_limit=2"))
    assert [seen(report, f"a>B#{number}>later") for number in (1, 2)] == ["x", "y"]
    assert report.warnings == []


def test_a_limit_lower_than_the_names_is_reported_at_compile_time() -> None:
    """“If the limit is lower than the number of names, say so at compile time.”"""
    (told,) = attempted(NAMES.replace("LIMIT", "")).warnings
    assert "block 'B' is called 2 times here, rendered 1 at most [delayed-limit-low]" in told
    assert told.startswith("main.sls:6:")
