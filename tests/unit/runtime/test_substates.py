"""Sub states in the loop: numbers, parents, what requisites read, retry, silence, order of events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
from tests.kit import ScriptedCaller, chunk

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics
from saltern.language.events import Answer, ChunkFinished, ChunkStarted, Event, Fired, Report
from saltern.language.result import Outcome, Result, SubResult, failed, ok
from saltern.plan.make import make_plan
from saltern.report.salt import to_dict
from saltern.report.verdict import failed as run_failed
from saltern.report.verdict import totals
from saltern.runtime.loop import run
from saltern.runtime.run_shared import RunOptions
from saltern.system.clock import FakeClock

Emit = Callable[[SubResult], None]
FINE = SubResult(name="fine", outcome=Outcome.OK)
CHANGED = SubResult(name="changed", outcome=Outcome.OK, changes={"x": 1})
WRONG = SubResult(name="wrong", outcome=Outcome.FAILED, comment="no")
WOULD = SubResult(name="would", outcome=Outcome.WOULD_CHANGE, changes={"x": 1})


class Emitting(ScriptedCaller):
    """Tells these steps while it runs: by ID, one list per attempt."""

    def __init__(
        self,
        steps: Mapping[str, Sequence[Sequence[SubResult]]],
        results: Mapping[str, Result | Sequence[Result]] | None = None,
    ) -> None:
        super().__init__(results)
        self._steps = {id_: list(attempts) for id_, attempts in steps.items()}

    def call(
        self, chunk: Chunk, args: Mapping[str, object], *, test: bool, emit: Emit | None = None
    ) -> Result:
        attempts = self._steps.get(chunk.id)
        if attempts and emit is not None:
            for step in attempts.pop(0) if len(attempts) > 1 else attempts[0]:
                emit(step)
        return super().call(chunk, args, test=test, emit=emit)


def go(
    chunks: Sequence[Chunk],
    caller: ScriptedCaller,
    *,
    options: RunOptions | None = None,
    events: list[Event] | None = None,
) -> Report:
    def tell(event: Event) -> None:
        if events is not None:
            events.append(event)

    plan = make_plan(chunks, ("main",), Diagnostics())
    return run(plan, caller=caller, clock=FakeClock(), options=options or RunOptions(), on_event=tell)


def by_id(report: Report) -> dict[str, Answer]:
    return {answer.chunk.id: answer for answer in report.answers}


def test_steps_are_numbered_in_the_one_sequence_right_after_their_parent() -> None:
    report = go([chunk("a"), chunk("b")], Emitting({"a": [[FINE, CHANGED]]}))
    assert [(one.chunk.id, one.number, one.sub) for one in report.answers] == [
        ("a", 0, False),
        ("fine", 1, True),
        ("changed", 2, True),
        ("b", 3, False),
    ]


def test_a_step_knows_its_parent_its_depth_and_its_parents_sls() -> None:
    deep = SubResult(name="loop", outcome=Outcome.OK, sub=(SubResult(name="item", outcome=Outcome.OK),))
    report = go([chunk("a", sls="main")], Emitting({"a": [[deep]]}))
    parent, loop, item = report.answers
    assert (loop.parent, loop.under, loop.depth) == (parent.chunk.tag, 0, 1)
    assert (item.parent, item.under, item.depth) == (loop.chunk.tag, 1, 2)
    assert {one.chunk.sls for one in report.answers} == {"main"}


def test_a_step_without_names_of_its_own_has_those_of_its_parent() -> None:
    report = go([chunk("a", state="x", fun="y")], Emitting({"a": [[FINE]]}))
    assert report.answers[1].chunk.tag == "x_|-fine_|-fine_|-y"


def test_a_step_has_a_tag_from_its_own_low_and_a_repeat_gets_a_number() -> None:
    step = SubResult(name="n", id="i", state="s", fun="f", outcome=Outcome.OK)
    shaped = to_dict(go([chunk("a")], Emitting({"a": [[step, step, step]]})))
    assert list(shaped)[1:] == ["s_|-i_|-n_|-f", "s_|-i#2_|-n_|-f", "s_|-i#3_|-n_|-f"]
    assert {(one["__id__"], one["name"]) for one in list(shaped.values())[1:]} == {("i", "n")}


def test_a_step_with_the_very_names_of_its_parent_keeps_both_results() -> None:
    step = SubResult(name="a", id="a", outcome=Outcome.FAILED)
    shaped = to_dict(go([chunk("a")], Emitting({"a": [[step]]})))
    assert list(shaped) == ["test_|-a_|-a_|-nop", "test_|-a#2_|-a_|-nop"]
    assert [one["result"] for one in shaped.values()] == [True, False]


def test_flat_json_has_the_links_and_milliseconds() -> None:
    step = SubResult(name="n", outcome=Outcome.OK, took=1.5, started=7.0, timed=True, data={"k": 1})
    skipped = SubResult(name="s", outcome=Outcome.OK, ran=False)
    shaped = list(to_dict(go([chunk("a")], Emitting({"a": [[step, skipped]]}))).values())
    assert shaped[1]["__parent__"] == "test_|-a_|-a_|-nop"
    assert (shaped[1]["__depth__"], shaped[1]["__run_num__"], shaped[1]["__sls__"]) == (1, 1, "main")
    assert (shaped[1]["__state_ran__"], shaped[2]["__state_ran__"]) == (True, False)
    assert (shaped[1]["duration"], shaped[1]["data"]) == (1500.0, {"k": 1})
    assert "duration" not in shaped[2]


# -- what requisites read ----------------------------------------------------------------------------


def test_a_watch_on_the_parent_fires_when_only_a_step_changed() -> None:
    watcher = chunk("w", requisites=[("watch", "test", "a")])
    caller = Emitting({"a": [[FINE, CHANGED]]})
    report = go([chunk("a"), watcher], caller)
    assert by_id(report)["a"].result.changes == {}
    assert "react w" in caller.asked


def test_onchanges_of_the_parent_runs_only_if_a_step_changed() -> None:
    owner = chunk("o", requisites=[("onchanges", "test", "a")])
    assert by_id(go([chunk("a"), owner], Emitting({"a": [[CHANGED]]})))["o"].result.ran
    assert not by_id(go([chunk("a"), owner], Emitting({"a": [[FINE]]})))["o"].result.ran


def test_a_failed_step_fails_what_requires_the_parent_and_the_parent_keeps_its_own_result() -> None:
    owner = chunk("o", requisites=[("require", "test", "a")])
    report = go([chunk("a"), owner], Emitting({"a": [[WRONG]]}))
    answers = by_id(report)
    assert answers["a"].result.outcome is Outcome.OK
    assert answers["a"].result.warnings == ("engine said ok, wrong failed",)
    assert answers["o"].result.outcome is Outcome.FAILED
    assert not answers["o"].result.ran


def test_onfail_of_the_parent_runs_when_a_deeper_step_failed() -> None:
    deep = SubResult(name="loop", outcome=Outcome.OK, sub=(WRONG,))
    handler = chunk("h", requisites=[("onfail", "test", "a")])
    assert by_id(go([chunk("a"), handler], Emitting({"a": [[deep]]})))["h"].result.ran


def test_a_failed_parent_gets_no_warning_about_its_steps() -> None:
    report = go([chunk("a")], Emitting({"a": [[WRONG]]}, {"a": failed("bad")}))
    assert by_id(report)["a"].result.warnings == ()


def test_a_warning_names_three_steps_and_hints_at_more() -> None:
    steps = [SubResult(name=f"s{n}", outcome=Outcome.FAILED) for n in range(5)]
    report = go([chunk("a")], Emitting({"a": [steps]}))
    assert report.answers[0].result.warnings == ("engine said ok, s0, s1, s2 … failed",)


def test_failhard_ends_the_run_at_a_failed_step() -> None:
    report = go([chunk("a", failhard=True), chunk("b")], Emitting({"a": [[WRONG]]}))
    assert "failhard" in report.stopped
    assert not by_id(report)["b"].result.ran


def test_an_own_change_of_a_step_needs_no_reaction() -> None:
    """The parent watches something that changed; its steps have changed, so it has dealt with that."""
    watcher = chunk("w", requisites=[("watch", "test", "a")])
    caller = Emitting({"w": [[CHANGED]]}, {"a": ok(changes={"x": 1})})
    go([chunk("a"), watcher], caller)
    assert "react w" not in caller.asked


def test_steps_in_the_result_survive_the_reaction() -> None:
    watcher = chunk("w", requisites=[("watch", "test", "a")])
    told = Result(outcome=Outcome.OK, sub=(FINE,))
    report = go([chunk("a"), watcher], ScriptedCaller({"a": ok(changes={"x": 1}), "w": told}))
    assert [one.chunk.id for one in report.answers] == ["a", "w", "fine"]


def test_prereq_sees_what_the_steps_of_its_target_would_change() -> None:
    owner = chunk("owner", requisites=[("prereq", "test", "target")])
    told = Result(outcome=Outcome.WOULD_CHANGE, sub=(WOULD,))
    done = Result(outcome=Outcome.OK, sub=(CHANGED,))
    caller = ScriptedCaller({"target": [told, done]})
    go([chunk("target"), owner], caller)
    assert caller.asked == ["try target", "run owner", "run target"]


def test_a_step_that_fails_in_a_rehearsal_is_reported_under_its_parent() -> None:
    owner = chunk("owner", requisites=[("prereq", "test", "target")])
    caller = ScriptedCaller({"target": Result(outcome=Outcome.FAILED, sub=(WRONG,))})
    answers = by_id(go([chunk("target"), owner], caller))
    assert answers["wrong"].under == answers["target"].number
    assert answers["owner"].result.outcome is Outcome.FAILED


def test_listeners_hear_a_change_of_a_step_and_may_have_steps_themselves() -> None:
    class Reacting(Emitting):
        def react(self, chunk: Chunk, args: Mapping[str, object], *, fun: str, test: bool) -> Result:
            return Result(outcome=Outcome.OK, sub=(CHANGED,))

    listener = chunk("l", requisites=[("listen", "test", "a")])
    report = go([chunk("a"), listener], Reacting({"a": [[CHANGED]]}))
    assert [one.chunk.id for one in report.answers] == ["a", "changed", "l", "listener_l", "changed"]
    assert report.answers[-1].under == report.answers[-2].number


def test_a_test_run_foretells_the_changes_of_steps() -> None:
    owner = chunk("o", requisites=[("onchanges", "test", "a")])
    report = go([chunk("a"), owner], Emitting({"a": [[WOULD]]}), options=RunOptions(test=True))
    assert by_id(report)["o"].result.ran


# -- retry, silence, interruption --------------------------------------------------------------------


def test_only_the_steps_of_the_last_attempt_count() -> None:
    tried = chunk("a", retry={"attempts": 2, "interval": 1})
    owner = chunk("o", requisites=[("require", "test", "a")])
    caller = Emitting({"a": [[WRONG], [FINE]]}, {"a": [failed("no"), ok("yes")]})
    report = go([tried, owner], caller)
    assert [one.chunk.id for one in report.answers] == ["a", "wrong", "fine", "o"]
    assert by_id(report)["o"].result.ran
    assert by_id(report)["a"].result.warnings == ()
    assert not run_failed(report)


def test_no_log_of_the_parent_hides_its_steps_down_to_their_names() -> None:
    secret = SubResult(
        name="password hunter2",
        outcome=Outcome.FAILED,
        comment="hunter2",
        changes={"hunter2": 1},
        data={"p": "hunter2"},
        warnings=("hunter2",),
        sub=(SubResult(name="hunter2", outcome=Outcome.OK),),
    )
    events: list[Event] = []
    report = go([chunk("a", no_log=True)], Emitting({"a": [[secret]]}), events=events)
    assert "hunter2" not in repr(to_dict(report))
    assert "hunter2" not in repr(events)
    assert [one.chunk.id for one in report.answers] == ["(no_log, order 0)", "(no_log)", "(no_log)"]


@pytest.mark.parametrize("options", [RunOptions(), RunOptions(max_parallel=1)])
def test_steps_of_a_parallel_state_stand_under_it(options: RunOptions) -> None:
    told = Result(outcome=Outcome.OK, sub=(CHANGED, WRONG))
    report = go([chunk("a", parallel=True), chunk("b")], ScriptedCaller({"a": told}), options=options)
    assert [one.chunk.id for one in report.answers] == ["a", "changed", "wrong", "b"]
    assert sorted(one.number for one in report.answers) == [0, 1, 2, 3]
    assert {one.under for one in report.answers[1:3]} == {report.answers[0].number}


def test_an_interrupted_state_keeps_the_steps_it_has_told() -> None:
    class Interrupted(Emitting):
        def call(
            self, chunk: Chunk, args: Mapping[str, object], *, test: bool, emit: Emit | None = None
        ) -> Result:
            super().call(chunk, args, test=test, emit=emit)
            raise KeyboardInterrupt

    report = go([chunk("a"), chunk("b")], Interrupted({"a": [[FINE]]}))
    assert [one.chunk.id for one in report.answers] == ["a", "fine", "b"]
    first, step, last = report.answers
    assert first.result.outcome is Outcome.FAILED
    assert first.result.comment == "interrupted while it ran; how far it got is unknown"
    assert (step.result.outcome, step.under) == (Outcome.OK, first.number)
    assert last.result.comment.startswith("not run (interrupted)")


def test_events_come_while_the_parent_runs_and_its_own_comes_last() -> None:
    events: list[Event] = []
    go([chunk("a")], Emitting({"a": [[FINE, CHANGED]]}), events=events)
    told = [
        (type(one).__name__, one.answer.chunk.id if isinstance(one, ChunkFinished) else one.chunk.id)
        for one in events
        if isinstance(one, ChunkFinished | ChunkStarted)
    ]
    assert told == [
        ("ChunkStarted", "a"),
        ("ChunkFinished", "fine"),
        ("ChunkFinished", "changed"),
        ("ChunkFinished", "a"),
    ]


def test_state_events_are_reported_for_steps_too() -> None:
    events: list[Event] = []
    go([chunk("a")], Emitting({"a": [[CHANGED]]}), options=RunOptions(events=True), events=events)
    fired = [one.tag for one in events if isinstance(one, Fired)]
    assert fired == ["salt/job/local/prog/changed/1", "salt/job/local/prog/a/0"]


def test_steps_count_as_in_salt() -> None:
    chunks = [chunk("a"), chunk("b"), chunk("c")]
    counts = totals(go(chunks, Emitting({"a": [[FINE, CHANGED, WRONG]]})))
    assert (counts.total, counts.succeeded, counts.failed, counts.changed) == (6, 5, 1, 1)
    assert (counts.sub_states, counts.sub_changed, counts.sub_failed) == (3, 1, 1)
