"""What a controller decides about a run, case by case."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from saltern.chains.statuses import Leg, Run, Step, Wave
from saltern.fleet.chains.advance import advance
from saltern.fleet.chains.amounts import Amount, read_amount, split_waves
from saltern.fleet.chains.continuation import judge_status, leg_end, next_step, with_blockers
from saltern.fleet.chains.events import (
    Away,
    Begin,
    Cancel,
    Command,
    Event,
    Note,
    OperatorAnswer,
    Pause,
    Reported,
    Resume,
    Send,
    Tick,
)
from saltern.fleet.chains.model import RunState, StepPlan, StepState, Strategy
from saltern.fleet.chains.versions import new_run, next_version
from saltern.language.diagnostics import OperationError

ONE = (StepPlan(id="a"),)
TWO = (StepPlan(id="a"), StepPlan(id="b"))


def a_run(count: int = 3, plan: tuple[StepPlan, ...] = ONE, **strategy: Any) -> RunState:
    systems = [f"s{number}" for number in range(1, count + 1)]
    return new_run("r", "v1", dict.fromkeys(systems, plan), Strategy(**strategy), deadline=1000)


def after(run: RunState, *events: Event) -> tuple[RunState, list[Command]]:
    found: list[Command] = []
    for event in events:
        run, commands = advance(run, event)
        found += commands
    return run, found


def said(number: int, *steps: Step, status: Leg | None = None, seq: int = 1, now: float = 1) -> Reported:
    states = tuple(StepState(status=one) for one in steps)
    return Reported(
        now=now, leg=f"r.s{number}", seq=seq, status=status or leg_end(states) or Leg.RUNNING, steps=states
    )


def orders(commands: list[Command]) -> list[tuple[str, int, str]]:
    return [(one.leg, one.number, one.verb) for one in commands if isinstance(one, Send)]


BEGIN = Begin(now=0)
OK, BAD = Step.SUCCEEDED, Step.FAILED


# -- amounts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shares", "sizes"),
    [
        ((), [7]),
        ((1, "10%", "rest"), [1, 1, 5]),
        ((3,), [3, 3, 1]),
        ((1, "50%"), [1, 4, 2]),
        (("100%",), [7]),
        ((10,), [7]),
    ],
)
def test_waves_hold_every_system_once_in_order(shares: tuple[object, ...], sizes: list[int]) -> None:
    systems = [f"s{number}" for number in range(7)]
    waves = split_waves(systems, shares)
    assert [len(one) for one in waves] == sizes
    assert [one for wave in waves for one in wave] == systems


@pytest.mark.parametrize("value", [-1, "-1", "x", "101%", "%", True, 1.5, None, [1], "1e3", "inf%", "nan%"])
def test_what_is_no_amount_is_refused(value: object) -> None:
    with pytest.raises(OperationError) as problem:
        read_amount(value)
    assert problem.value.diagnostics[0].code == "chain-amount"


@pytest.mark.parametrize("share", [0, "0%"])
def test_a_wave_of_none_is_refused(share: object) -> None:
    with pytest.raises(OperationError):
        split_waves(["a"], [share])


@pytest.mark.parametrize(
    ("limit", "failed", "started", "exceeded"),
    [
        (0, 0, 5, False), (0, 1, 5, True), (2, 2, 5, False), (2, 3, 5, True),
        ("0%", 1, 7, True), ("34%", 1, 3, False), ("33%", 1, 3, True), ("50%", 1, 2, False),
        ("14%", 1, 7, True), ("15%", 1, 7, False), ("100%", 1, 1, False),
        ("10%", 1, 1, True), ("10%", 0, 0, False),
    ],
)  # fmt: skip
def test_48_a_limit_is_exceeded_by_strictly_more(
    limit: object, failed: int, started: int, exceeded: bool
) -> None:
    assert read_amount(limit).is_exceeded(failed, started) is exceeded


@pytest.mark.parametrize(("limit", "total", "most"), [("10%", 3, 1), ("34%", 3, 1), ("50%", 7, 3), (5, 3, 5)])
def test_systems_in_flight_are_rounded_down_and_never_none(limit: object, total: int, most: int) -> None:
    assert read_amount(limit).at_most(total) == most


# -- versions -----------------------------------------------------------------------------------------


def test_a_changed_text_is_a_new_version_and_the_same_text_is_not() -> None:
    first = next_version("nightly", None, "a")
    assert next_version("nightly", first, "a") is first
    second = next_version("nightly", first, "b")
    assert (first.number, second.number, first.text) == (1, 2, "a")


def test_49_a_run_that_means_no_system_is_refused() -> None:
    with pytest.raises(OperationError) as problem:
        new_run("r", "v1", {"s1": ()}, Strategy(), 10)
    assert problem.value.diagnostics[0].code == "chain-empty"


def test_a_system_without_a_step_takes_no_part() -> None:
    assert list(new_run("r", "v1", {"s1": (), "s2": ONE}, Strategy(), 10).legs) == ["r.s2"]


# -- continuation -------------------------------------------------------------------------------------


def states(*statuses: Step) -> tuple[StepState, ...]:
    return tuple(StepState(status=one) for one in statuses)


@pytest.mark.parametrize(
    ("policy", "first", "then"),
    [
        ("stop", OK, 1), ("stop", BAD, None), ("continue", BAD, 1), ("pause", BAD, None),
        ("stop", Step.RUNNING, 0), ("stop", Step.SKIPPED, 1), ("stop", Step.INDETERMINATE, None),
        ("continue", Step.INDETERMINATE, 1),
    ],
)  # fmt: skip
def test_what_may_run_next(policy: Any, first: Step, then: int | None) -> None:
    plan = (StepPlan(id="a", on_failure=policy), StepPlan(id="b"))
    assert next_step(plan, states(first, Step.NOT_RUN)) == then


def test_a_step_that_did_not_run_names_what_blocked_it() -> None:
    plan = (StepPlan(id="a", on_failure="continue"), StepPlan(id="b"), StepPlan(id="c"))
    found = with_blockers(plan, states(BAD, BAD, Step.NOT_RUN))
    assert [one.blocked_by for one in found] == ["", "", "b"]


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        ((OK, OK), Leg.SUCCEEDED),
        ((OK, Step.SKIPPED), Leg.SUCCEEDED_WITH_SKIPS),
        ((OK, BAD), Leg.FAILED),
        ((OK, Step.INDETERMINATE), Leg.INDETERMINATE),
        ((OK, Step.NOT_RUN), Leg.INDETERMINATE),
    ],
)
def test_success_needs_the_proof_of_every_step(steps: tuple[Step, ...], status: Leg) -> None:
    assert judge_status(Leg.SUCCEEDED, states(*steps)) is status


# -- a run --------------------------------------------------------------------------------------------


def test_every_system_gets_its_whole_leg_at_once() -> None:
    run, found = after(a_run(), BEGIN, BEGIN)
    assert orders(found) == [("r.s1", 1, "run"), ("r.s2", 1, "run"), ("r.s3", 1, "run")]
    assert run.status is Run.RUNNING


def test_one_failure_is_nothing_to_the_others() -> None:
    run, _ = after(a_run(), BEGIN, said(1, BAD), said(2, OK), said(3, OK))
    assert [leg.status for leg in run.legs.values()] == [Leg.FAILED, Leg.SUCCEEDED, Leg.SUCCEEDED]
    assert run.status is Run.PARTIAL


def test_a_canary_that_fails_halts_the_run_and_an_operator_lets_it_continue() -> None:
    run, found = after(a_run(waves=(1, "rest"), max_failures=Amount(0)), BEGIN, said(1, BAD))
    assert (run.status, orders(found)) == (Run.HALTED, [("r.s1", 1, "run")])
    assert run.halted == "1 of 1 systems failed, more than 0: s1"
    run, found = after(run, Resume(now=2))
    assert (run.status, found) == (Run.HALTED, []), "who resumes a pause has not seen the failures"
    run, found = after(run, Resume(now=2, despite_failures=True))
    assert orders(found) == [("r.s2", 1, "run"), ("r.s3", 1, "run")]
    run, _ = after(run, said(2, OK), said(3, BAD))
    assert run.status is Run.PARTIAL


def test_48_exactly_as_many_failures_as_allowed_do_not_halt() -> None:
    run, found = after(a_run(3, waves=(1, 1, 1), max_failures=Amount(1)), BEGIN, said(1, BAD))
    assert (run.status, len(orders(found))) == (Run.RUNNING, 2)
    run, found = after(run, said(2, BAD))
    assert (run.status, found[0]) == (
        Run.HALTED,
        Note(about="r", before="running", after="halted", why="2 of 2 systems failed, more than 1: s1, s2"),
    )


def test_a_halt_may_pause_what_runs() -> None:
    _, found = after(a_run(2, max_failures=Amount(0), on_halt="pause"), BEGIN, said(1, BAD))
    assert orders(found)[-1] == ("r.s2", 2, "pause")


def test_48_a_system_that_is_away_is_no_failure_unless_said_so() -> None:
    away = Away(now=1, leg="r.s1")
    assert after(a_run(max_failures=Amount(0)), BEGIN, away)[0].status is Run.RUNNING
    assert after(a_run(max_failures=Amount(0), count_away=True), BEGIN, away)[0].status is Run.HALTED


def test_a_wave_soaks_before_the_next_begins() -> None:
    run, found = after(a_run(2, waves=(1, 1), soak=60), BEGIN, said(1, OK, now=10), Tick(now=69))
    assert (run.waves[0].status, orders(found)) == (Wave.SOAKING, [("r.s1", 1, "run")])
    assert orders(after(run, Tick(now=70))[1]) == [("r.s2", 1, "run")]


def test_no_more_systems_than_allowed_are_in_flight() -> None:
    run, found = after(a_run(3, max_in_flight=Amount(1)), BEGIN)
    assert orders(found) == [("r.s1", 1, "run")]
    assert orders(after(run, said(1, OK))[1]) == [("r.s2", 1, "run")]


def test_a_pause_and_its_end_reach_only_who_works() -> None:
    run, found = after(a_run(2, waves=(1, 1)), BEGIN, Pause(now=1), Pause(now=1))
    assert orders(found) == [("r.s1", 1, "run"), ("r.s1", 2, "pause")]
    run, found = after(run, said(1, OK), Resume(now=2), Resume(now=2))
    assert orders(found) == [("r.s2", 1, "run")]


def test_cancel_ends_what_was_not_begun_and_asks_the_rest() -> None:
    run, found = after(a_run(2, waves=(1, 1)), BEGIN, Cancel(now=1), Cancel(now=1), Resume(now=1))
    assert orders(found)[1:] == [("r.s1", 2, "cancel")]
    assert (run.status, run.legs["r.s2"].status) == (Run.CANCELLING, Leg.CANCELLED)
    run, _ = after(run, said(1, Step.CANCELLED, status=Leg.CANCELLED))
    assert run.status is Run.CANCELLED


def test_44_a_cancel_that_comes_too_late_does_not_hide_a_success() -> None:
    run, _ = after(a_run(1), BEGIN, Cancel(now=1), said(1, OK))
    assert run.status is Run.SUCCEEDED


def test_the_deadline_asks_first_and_expires_after_the_grace() -> None:
    run, found = after(a_run(1, grace=60), BEGIN, Tick(now=1000))
    assert (orders(found)[-1], run.status) == (("r.s1", 2, "cancel"), Run.RUNNING)
    run, found = after(run, Tick(now=1059), Tick(now=1060), Tick(now=2000))
    assert (run.status, run.legs["r.s1"].status, orders(found)) == (Run.EXPIRED, Leg.EXPIRED, [])


def test_time_that_jumps_over_deadline_and_grace_still_asks() -> None:
    run, found = after(a_run(1), BEGIN, Tick(now=9999))
    assert (orders(found)[-1], run.status) == (("r.s1", 2, "cancel"), Run.EXPIRED)


def test_a_run_that_never_began_expires_without_a_word() -> None:
    run, found = after(a_run(2), Tick(now=1000))
    assert (run.status, orders(found)) == (Run.EXPIRED, [])


def test_time_that_goes_back_changes_nothing() -> None:
    run, found = after(a_run(1), BEGIN, Tick(now=999), Tick(now=-5))
    assert (run.now, len(found)) == (999, 1)


def test_33_a_late_result_corrects_the_leg_and_the_run_with_a_note() -> None:
    run, _ = after(a_run(1), BEGIN, Tick(now=9999))
    run, found = after(run, said(1, OK, now=10_000))
    assert (run.status, run.legs["r.s1"].status) == (Run.SUCCEEDED, Leg.SUCCEEDED)
    assert [one.about for one in found if isinstance(one, Note)] == ["r.s1", "r"]
    assert orders(found) == []


def test_a_system_that_still_runs_does_not_open_an_expired_leg() -> None:
    run, _ = after(a_run(1, TWO), BEGIN, Tick(now=9999), said(1, OK, Step.RUNNING))
    assert run.legs["r.s1"].status is Leg.EXPIRED
    assert run.legs["r.s1"].steps[0].status is OK, "what is known of its steps is kept"


def test_32_an_outdated_report_changes_nothing() -> None:
    run, _ = after(a_run(1, TWO), BEGIN, said(1, OK, OK, seq=7), said(1, OK, Step.RUNNING, seq=5))
    assert run.legs["r.s1"].status is Leg.SUCCEEDED


def test_one_leg_is_paused_resumed_and_cancelled_alone() -> None:
    legs = ("r.s1",)
    run, found = after(
        a_run(2), BEGIN, Pause(now=1, legs=legs), Resume(now=1, legs=legs), Cancel(now=1, legs=legs)
    )
    assert orders(found)[2:] == [("r.s1", 2, "pause"), ("r.s1", 3, "run"), ("r.s1", 4, "cancel")]
    assert run.status is Run.RUNNING


def test_a_leg_that_paused_itself_is_answered_once() -> None:
    plan = (StepPlan(id="a", on_failure="pause"), StepPlan(id="b"))
    paused = said(1, BAD, Step.NOT_RUN, status=Leg.PAUSED)
    answer = OperatorAnswer(now=2, leg="r.s1", word="skip", step="a")
    run, found = after(a_run(1, plan), BEGIN, answer, paused, answer, answer)
    assert orders(found) == [("r.s1", 1, "run"), ("r.s1", 2, "skip")]
    assert after(run, OperatorAnswer(now=2, leg="r.s1", word="skip", step="x"))[1] == []


def test_events_about_what_is_not_known_change_nothing() -> None:
    run, _ = after(a_run(1), BEGIN)
    for event in (said(9, OK), Away(now=1, leg="r.s9"), Cancel(now=1, legs=("r.s9",)), said(1, OK, OK)):
        assert advance(run, event)[0].legs == run.legs


def _looked_at(report: Reported, order: int, applied: int | None) -> Reported:
    return replace(report, order=order, applied=applied)


@pytest.mark.parametrize(("order", "applied"), [(1, None), (1, 1), (2, 1), (0, 1)])
@pytest.mark.parametrize("status", [Leg.FAILED, Leg.INDETERMINATE, Leg.RUNNING, Leg.PAUSED])
def test_46_what_was_reported_before_a_retry_neither_ends_the_leg_nor_asks_again(
    order: int, applied: int | None, status: Leg
) -> None:
    failed = said(1, BAD, Step.NOT_RUN, status=Leg.FAILED)
    retry = OperatorAnswer(now=2, leg="r.s1", word="retry")
    run, found = after(a_run(1, TWO), BEGIN, failed, retry)
    assert orders(found)[-1] == ("r.s1", 2, "retry")
    late = _looked_at(said(1, BAD, Step.NOT_RUN, status=status, seq=5), order, applied)
    run, found = after(run, late, retry)
    leg = run.legs["r.s1"]
    assert (leg.status, run.status, found) == (Leg.PENDING, Run.RUNNING, [])
    run, _ = after(run, _looked_at(said(1, OK, OK, seq=4), 2, 2))
    assert run.legs["r.s1"].status is Leg.SUCCEEDED, "a lower number than that of an outdated report counts"


def test_46_a_system_that_passed_over_a_retry_is_believed() -> None:
    """A cancel was quicker than the retry before it: the leg never began anew, and its system says so."""
    run, _ = after(
        a_run(1, TWO),
        BEGIN,
        said(1, BAD, Step.NOT_RUN, status=Leg.FAILED),
        OperatorAnswer(now=2, leg="r.s1", word="retry"),
        Cancel(now=3, legs=("r.s1",)),
        _looked_at(said(1, BAD, Step.NOT_RUN, status=Leg.FAILED, seq=2), 3, 1),
    )
    assert (run.legs["r.s1"].status, run.status) == (Leg.FAILED, Run.FAILED)


@pytest.mark.parametrize("word", ["resume", "retry", "skip", "done"])
def test_44_a_leg_that_paused_itself_is_not_answered_twice_by_an_older_report(word: Any) -> None:
    plan = (StepPlan(id="a", on_failure="pause"), StepPlan(id="b"))
    answer = OperatorAnswer(now=2, leg="r.s1", word=word, step="a")
    paused = said(1, BAD, Step.NOT_RUN, status=Leg.PAUSED)
    run, _ = after(a_run(1, plan), BEGIN, paused, answer)
    late = _looked_at(said(1, BAD, Step.NOT_RUN, status=Leg.PAUSED, seq=2), 1, 1)
    assert after(run, late, answer)[1] == []
