"""The loop with a scripted world: barriers, what a chunk spawns, interruption, numbers."""

from __future__ import annotations

from collections.abc import Sequence

from tests.kit import ScriptedCaller, chunk

from saltern.language.chunk import Chunk
from saltern.language.delayed import BlockScope, Target
from saltern.language.diagnostics import Diagnostics
from saltern.language.events import (
    Answer,
    ChunkFinished,
    ChunkStarted,
    Event,
    Report,
    RunFinished,
    RunStarted,
)
from saltern.language.result import Outcome, Result, failed, ok
from saltern.plan.make import make_plan
from saltern.plan.plan import Plan
from saltern.runtime.answers import combined_standing
from saltern.runtime.loop import run
from saltern.runtime.ports import Call, FrameMaker
from saltern.runtime.run_shared import RunOptions
from saltern.system.clock import FakeClock

CHANGED = ok("changed", changes={"x": 1})
WOULD = Result(outcome=Outcome.WOULD_CHANGE, changes={"x": 1})


def go(
    chunks: Sequence[Chunk],
    caller: ScriptedCaller | None = None,
    *,
    options: RunOptions | None = None,
    frames: FrameMaker | None = None,
    events: list[Event] | None = None,
    files: Sequence[str] = ("main",),
) -> Report:
    plan = make_plan(chunks, files, Diagnostics())

    def tell(event: Event) -> None:
        if events is not None:
            events.append(event)

    return run(
        plan,
        caller=caller or ScriptedCaller(),
        clock=FakeClock(),
        options=options or RunOptions(),
        on_event=tell,
        frames=frames,
    )


def outcomes(report: Report) -> dict[str, tuple[Outcome, bool]]:
    return {answer.chunk.id: (answer.result.outcome, answer.result.ran) for answer in report.answers}


class Maker:
    """Whoever delays something brings these states with it."""

    def __init__(self, *chunks: Chunk) -> None:
        self.chunks = chunks
        self.open = 0

    def make(self, call: Call) -> Plan:
        self.open += 1
        return make_plan(self.chunks, ["main"], Diagnostics())

    def enter(self, plan: Plan) -> None:
        self.open += 1

    def leave(self) -> None:
        self.open -= 1


def calling(id_: str, **args: object) -> Chunk:
    """A state that delays a block."""
    caller = chunk(id_, more=args)
    caller.delayed = (Target(kind="block", name="later", scope=BlockScope(), definition=(id_,)),)
    return caller


def test_events_come_in_order_and_frame_the_run() -> None:
    events: list[Event] = []
    go([chunk("a"), chunk("b")], events=events)
    kinds = [type(event) for event in events]
    assert kinds == [RunStarted, ChunkStarted, ChunkFinished, ChunkStarted, ChunkFinished, RunFinished]


def test_requisites_see_a_failure_among_what_a_chunk_spawned() -> None:
    chunks = [
        calling("parent"),
        chunk("needs", requisites=[("require", "test", "parent")]),
        chunk("handles", requisites=[("onfail", "test", "parent")]),
    ]
    caller = ScriptedCaller({"bad": failed("broken")})
    report = go(chunks, caller, frames=Maker(chunk("good"), chunk("bad")))
    assert outcomes(report)["parent"] == (Outcome.OK, True)  # its own answer stays
    assert outcomes(report)["needs"] == (Outcome.FAILED, False)
    assert outcomes(report)["handles"] == (Outcome.OK, True)


def test_requisites_see_a_change_among_what_a_chunk_spawned() -> None:
    chunks = [
        calling("parent"),
        chunk("onchanges", requisites=[("onchanges", "test", "parent")]),
        chunk("watches", requisites=[("watch", "test", "parent")]),
    ]
    caller = ScriptedCaller({"inner": CHANGED})
    report = go(chunks, caller, frames=Maker(chunk("inner")))
    assert outcomes(report)["onchanges"] == (Outcome.OK, True)
    assert "react watches" in caller.asked


def test_a_failure_among_what_was_spawned_is_one_for_failhard() -> None:
    caller = ScriptedCaller({"inner": failed("broken")})
    report = go([calling("parent", failhard=True), chunk("next")], caller, frames=Maker(chunk("inner")))
    assert outcomes(report)["next"] == (Outcome.FAILED, False)
    assert "main.parent" in report.stopped


def test_the_effective_answer_is_the_worst_and_any_change() -> None:
    own = Answer(chunk=chunk("a"), result=ok("fine"), number=0)
    would = Answer(chunk=chunk("b"), result=WOULD, number=1)
    broken = Answer(chunk=chunk("c"), result=failed("broken"), number=2)
    assert (combined_standing(own).outcome, combined_standing(own).changed) == (Outcome.OK, False)
    assert (combined_standing(own, [would]).outcome, combined_standing(own, [would]).changed) == (
        Outcome.WOULD_CHANGE,
        True,
    )
    assert combined_standing(own, [broken, would]).outcome is Outcome.FAILED
    assert combined_standing(would, [own]).outcome is Outcome.WOULD_CHANGE


def test_a_barrier_answers_for_every_member_of_its_file() -> None:
    chunks = [
        chunk("a", sls="other"),
        chunk("b", sls="other"),
        chunk("any", requisites=[("require_any", "sls", "other")]),
        chunk("all", requisites=[("require", "sls", "other")]),
        chunk("handles", requisites=[("onfail_all", "sls", "other")]),
        chunk("changes", requisites=[("onchanges", "sls", "other")]),
    ]
    report = go(chunks, ScriptedCaller({"a": failed("no"), "b": CHANGED}), files=("main", "other"))
    assert outcomes(report) == {
        "a": (Outcome.FAILED, True),
        "b": (Outcome.OK, True),
        "any": (Outcome.OK, True),
        "all": (Outcome.FAILED, False),
        "handles": (Outcome.OK, False),
        "changes": (Outcome.OK, True),
    }


def test_an_empty_file_lets_requirers_run_and_holds_those_who_wait_for_an_occasion() -> None:
    chunks = [
        chunk("needs", requisites=[("require", "sls", "empty")]),
        chunk("waits", requisites=[("onchanges", "sls", "empty")]),
    ]
    report = go(chunks, files=("main", "empty"))
    assert outcomes(report) == {"needs": (Outcome.OK, True), "waits": (Outcome.OK, False)}


def test_prereq_triggers_on_predicted_changes_as_well_as_on_none() -> None:
    for prediction in (WOULD, CHANGED, Result(outcome=Outcome.WOULD_CHANGE)):
        caller = ScriptedCaller({"target": [prediction, ok("done")]})
        go([chunk("target"), chunk("owner", requisites=[("prereq", "test", "target")])], caller)
        assert caller.asked == ["try target", "run owner", "run target"]


def test_prereq_does_not_run_for_a_target_that_stays_as_it_is() -> None:
    caller = ScriptedCaller()
    report = go([chunk("target"), chunk("owner", requisites=[("prereq", "test", "target")])], caller)
    assert caller.asked == ["try target", "run target"]
    assert outcomes(report)["owner"] == (Outcome.OK, False)


def test_a_target_is_rehearsed_once_for_all_who_prepare_for_it() -> None:
    owners = [chunk(f"owner{n}", requisites=[("prereq", "test", "target")]) for n in range(3)]
    caller = ScriptedCaller({"target": [WOULD, CHANGED]})
    go([chunk("target"), *owners], caller)
    assert caller.asked.count("try target") == 1


def test_an_interrupted_run_keeps_its_answers_and_says_what_was_not_reached() -> None:
    class Interrupted(ScriptedCaller):
        def call(self, chunk: Chunk, args: object, *, test: bool, emit: object = None) -> Result:
            if chunk.id == "b":
                raise KeyboardInterrupt
            return super().call(chunk, {}, test=test)

    report = go([chunk("a"), chunk("b"), chunk("c")], Interrupted())
    assert outcomes(report) == {
        "a": (Outcome.OK, True),
        "b": (Outcome.FAILED, True),
        "c": (Outcome.FAILED, False),
    }
    assert "interrupted" in report.stopped
    assert [answer.number for answer in report.answers] == [0, 1, 2]


def test_reload_words_ask_for_a_refresh_but_not_in_a_test() -> None:
    chunks = [chunk("a", reload_grains=True, reload_pillar=True), chunk("b", reload_modules=True)]
    caller = ScriptedCaller({"b": CHANGED})
    go(chunks, caller)
    assert [one for one in caller.asked if one.startswith("refresh")] == [
        "refresh grains, pillar",
        "refresh modules",
    ]
    caller = ScriptedCaller({"b": CHANGED})
    go(chunks, caller, options=RunOptions(test=True))
    assert not [one for one in caller.asked if one.startswith("refresh")]


def test_modules_are_loaded_again_only_after_a_change() -> None:
    caller = ScriptedCaller()
    go([chunk("a", reload_modules=True), chunk("b", force_reload_modules=True)], caller)
    assert caller.asked == ["run a", "run b", "refresh modules"]


def test_a_watcher_reacts_after_its_own_quiet_success_only() -> None:
    for own, reacts in ((ok("fine"), True), (CHANGED, False), (failed("no"), False)):
        caller = ScriptedCaller({"conf": CHANGED, "service": own})
        go([chunk("conf"), chunk("service", requisites=[("watch", "test", "conf")])], caller)
        assert ("react service" in caller.asked) is reacts


def test_parallel_chunks_keep_the_numbers_of_their_start() -> None:
    chunks = [chunk("a", parallel=True), chunk("b", parallel=True), chunk("c")]
    report = go(chunks)
    assert [(answer.chunk.id, answer.number, answer.parallel) for answer in report.answers] == [
        ("a", 0, True),
        ("b", 1, True),
        ("c", 2, False),
    ]


def test_parallel_chains_are_postponed_and_still_in_order() -> None:
    chunks = [
        chunk("a", parallel=True),
        chunk("b", parallel=True, requisites=[("require", "test", "a")]),
        chunk("c", parallel=True, requisites=[("require", "test", "b")]),
        chunk("d"),
    ]
    report = go(chunks, ScriptedCaller({"a": failed("no")}))
    assert outcomes(report) == {
        "a": (Outcome.FAILED, True),
        "b": (Outcome.FAILED, False),
        "c": (Outcome.FAILED, False),
        "d": (Outcome.OK, True),
    }
    assert sorted(answer.number for answer in report.answers) == [0, 1, 2, 3]


class CountingClock(FakeClock):
    """Every look at it is later than the one before."""

    def now(self) -> float:
        self._now += 1
        return self._now

    tick = now


def test_a_parallel_chunk_begins_when_there_is_a_place_for_it() -> None:
    plan = make_plan([chunk(name, parallel=True) for name in "ab"], ("main",), Diagnostics())
    options = RunOptions(max_parallel=1)
    first, second = run(plan, caller=ScriptedCaller(), clock=CountingClock(), options=options).answers
    assert second.started > first.started + first.took
