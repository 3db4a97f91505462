"""How far systems go: by their autonomy, in their windows, in which order, and how often they are retried."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import ValidationError, convert
from msgspec.structs import replace
from tests.fleet.chains.simulated import Simulation
from tests.fleet.chains.test_decisions import BEGIN, a_run, after, orders, said

from saltern.chains.statuses import Leg, Run, Step
from saltern.fleet.chains.amounts import Amount
from saltern.fleet.chains.deadlines import next_wakeup
from saltern.fleet.chains.estimate import expected_times
from saltern.fleet.chains.events import Begin, Cancel, Command, Note, Send, Tick, Windows
from saltern.fleet.chains.model import RetryLegs, RunState, StepPlan, Strategy
from saltern.fleet.chains.rollout import Rollout, make_run, order_systems
from saltern.fleet.chains.versions import new_run

FOUR = tuple(
    StepPlan(id=name, place=at, segment=segment)
    for at, (name, segment) in enumerate((("a", 1), ("b", 1), ("c", 2), ("d", 2)))
)
TIMED = tuple(replace(step, expected=100.0) for step in FOUR)
LONG = {"leg_time": 9_000.0}


def sends(commands: list[Command]) -> list[Send]:
    return [one for one in commands if isinstance(one, Send)]


def untils(commands: list[Command]) -> list[tuple[str, str]]:
    return [(one.verb, one.until) for one in sends(commands)]


# -- autonomy -----------------------------------------------------------------------------------------


def test_a_system_may_be_let_do_one_step_at_a_time() -> None:
    run, sent = after(a_run(1, FOUR, autonomy="per_step"), BEGIN)
    assert untils(sent) == [("run", "a")]
    run, sent = after(run, said(1, Step.SUCCEEDED, *[Step.NOT_RUN] * 3, status=Leg.WAITING))
    assert untils(sent) == [("run", "b")]
    failed = (Step.SUCCEEDED, Step.FAILED, Step.NOT_RUN, Step.NOT_RUN)
    run, sent = after(run, said(1, *failed, status=Leg.FAILED, seq=2))
    assert (untils(sent), run.status) == ([], Run.FAILED)


def test_or_one_segment_at_a_time() -> None:
    run, sent = after(a_run(1, FOUR, autonomy="per_segment"), BEGIN)
    assert untils(sent) == [("run", "b")]
    done = (Step.SUCCEEDED, Step.SUCCEEDED, Step.NOT_RUN, Step.NOT_RUN)
    run, sent = after(run, said(1, *done, status=Leg.WAITING))
    assert untils(sent) == [("run", "d")]


@given(st.integers(0, 2**32), st.sampled_from(["per_segment", "per_step"]))
def test_a_system_that_is_cut_off_stops_at_the_end_of_what_it_was_let_do(seed: int, autonomy: Any) -> None:
    dice = Random(seed)
    plans = dict.fromkeys(("s1", "s2"), FOUR)
    sim = Simulation(
        new_run("r", "v1", plans, Strategy(autonomy=autonomy), 1000),
        dict.fromkeys(plans, (Step.SUCCEEDED,) * 4),
    )
    sim.feed(BEGIN)
    for _ in range(dice.randint(0, 12)):
        sim.exchange()
        sim.work(dice.choice(list(sim.nodes)))
    sim.exchange()
    before = {name: len(node.trace) for name, node in sim.nodes.items()}
    sim.feed(Cancel(now=1))  # which does not reach them
    for name, node in sim.nodes.items():
        for _ in range(10):
            node.work()
        most = {"per_step": 1, "per_segment": 2}[autonomy]
        assert len(node.trace) - before[name] <= most


@given(st.integers(0, 2**32), st.sampled_from(["full", "per_segment", "per_step"]))
def test_with_any_autonomy_every_run_comes_to_its_end(seed: int, autonomy: Any) -> None:
    dice = Random(seed)
    plans = {f"s{at}": FOUR for at in range(3)}
    ends = {one: tuple(dice.choice([Step.SUCCEEDED] * 4 + [Step.FAILED]) for _ in FOUR) for one in plans}
    lockstep = dice.random() < 0.3
    sim = Simulation(new_run("r", "v1", plans, Strategy(autonomy=autonomy, lockstep=lockstep), 1000), ends)
    sim.feed(BEGIN)
    for _ in range(80):
        sim.exchange()
        for leg in sim.nodes:
            sim.work(leg)
    sim.exchange()
    assert all(leg.is_over for leg in sim.run.legs.values())
    for node in sim.nodes.values():
        assert node.trace == list(range(len(node.trace)))


# -- windows ------------------------------------------------------------------------------------------


def in_window(
    until: float, plan: tuple[StepPlan, ...] = TIMED, **more: Any
) -> tuple[RunState, list[Command]]:
    run = replace(a_run(1, plan, **{**LONG, **more}), deadline=100_000.0)
    return after(run, Windows(now=0, shut={}, until={"r.s1": until}), BEGIN)


def test_51_a_step_begins_only_if_it_fits_into_what_is_left_of_the_window() -> None:
    _, sent = in_window(250)
    assert untils(sent) == [("run", "b")]
    _, sent = in_window(99)
    assert untils(sent) == []
    run, sent = in_window(250, FOUR)
    assert (untils(sent), next_wakeup(run)) == ([("run", "")], 250), "what is not known is not expected"


def test_51_a_system_that_has_no_window_long_enough_says_which_action_needs_how_long() -> None:
    run, _ = in_window(60)
    assert run.legs["r.s1"].unfit == "a takes about 100 seconds, and the window ends in 60"
    run, sent = after(run, Windows(now=70, shut={}, until={"r.s1": 1000.0}))
    assert (untils(sent), run.legs["r.s1"].unfit) == ([("run", "")], "")


def test_51_one_that_took_longer_is_paused_in_time_and_continues_in_the_next_window() -> None:
    run, _ = in_window(420)
    done = (Step.SUCCEEDED, Step.RUNNING, Step.NOT_RUN, Step.NOT_RUN)
    run, sent = after(run, said(1, *done, now=210))
    assert untils(sent) == []
    run, sent = after(run, Tick(now=321))  # the third would end at 421
    assert orders(sent) == [("r.s1", 2, "pause")]
    run, _ = after(run, said(1, Step.SUCCEEDED, Step.SUCCEEDED, *done[2:], status=Leg.PAUSED, seq=2, now=330))
    run, sent = after(run, Windows(now=420, shut={"r.s1": "no window"}, until={}))
    assert not orders(sent)
    run, sent = after(run, Windows(now=1000, shut={}, until={"r.s1": 2000.0}))
    assert orders(sent) == [("r.s1", 3, "run")] and sends(sent)[0].lease == 1000


def test_51_an_order_says_how_long_the_window_is_and_a_longer_one_is_sent_to_who_waits() -> None:
    run, sent = in_window(250, FOUR)
    assert [one.lease for one in sends(sent)] == [250]
    waits = said(1, Step.SUCCEEDED, *[Step.NOT_RUN] * 3, status=Leg.WAITING, now=248)
    run, sent = after(run, waits, Tick(now=249))
    assert not orders(sent), "its window is over, as it says itself"
    run, sent = after(run, Windows(now=249, shut={}, until={"r.s1": 900.0}))
    assert [one.lease for one in sends(sent)] == [651]


def test_51_what_is_outside_of_its_window_may_end_instead() -> None:
    run, _ = in_window(420, outside_window="fail")
    done = (Step.SUCCEEDED, Step.RUNNING, Step.NOT_RUN, Step.NOT_RUN)
    run, sent = after(run, said(1, *done, now=210), Tick(now=330))
    assert orders(sent) == [("r.s1", 2, "cancel")]
    ended = (Step.SUCCEEDED, Step.SUCCEEDED, Step.CANCELLED, Step.CANCELLED)
    run, _ = after(run, said(1, *ended, status=Leg.CANCELLED, seq=2, now=340))
    assert (run.legs["r.s1"].status, run.status) == (Leg.FAILED, Run.FAILED)
    unbegun, sent = in_window(50, outside_window="fail")
    assert (unbegun.legs["r.s1"].status, orders(sent)) == (Leg.PENDING, []), "it has not begun: it waits"


def test_51_a_reboot_that_ends_outside_of_its_window_is_recorded() -> None:
    run, _ = in_window(250, FOUR)
    down = (Step.SUCCEEDED, Step.RUNNING, Step.NOT_RUN, Step.NOT_RUN)
    run, _ = after(run, said(1, *down, status=Leg.REBOOTING, now=240))
    run, sent = after(run, Windows(now=251, shut={"r.s1": "the night is over"}, until={}))
    assert orders(sent) == [("r.s1", 2, "pause")]
    back = said(1, Step.SUCCEEDED, Step.SUCCEEDED, *[Step.NOT_RUN] * 2, status=Leg.PAUSED, seq=2, now=260)
    run, found = after(run, back)
    (note,) = [one for one in found if isinstance(one, Note)]
    assert "ended outside it: the night is over" in note.why


def test_what_an_action_takes_is_what_it_took_before() -> None:
    history = {"a": [1.0, 2.0, 9.0], "b": [5.0]}
    assert expected_times(history) == {"a": 9.0}


# -- order, quorum, retry -----------------------------------------------------------------------------


def test_systems_begin_in_the_order_that_is_asked_for() -> None:
    names = ["b", "a", "c"]
    assert order_systems(names, "", "r") == names
    assert (order_systems(names, "name", "r"), order_systems(names, "reverse", "r")) == (
        ["a", "b", "c"],
        ["c", "b", "a"],
    )
    mixed = order_systems([str(one) for one in range(50)], "random", "r")
    assert sorted(mixed, key=int) != mixed == order_systems([str(one) for one in range(50)], "random", "r")
    ask = convert({"order": "reverse", "waves": [1, "rest"]}, Rollout)
    run = make_run("r", "v", dict.fromkeys(names, FOUR), ask, now=0)
    assert run.waves[0].legs == ("r.c",)


def test_a_run_begins_when_enough_systems_are_connected() -> None:
    run, sent = after(a_run(3, reachable=Amount(60, True)), Begin(now=0, missing=("s2", "s3")))
    assert (run.status, orders(sent)) == (Run.SCHEDULED, [])
    assert run.waits == "1 of 3 systems are connected, and 2 must be; away: s2, s3"
    run, sent = after(run, Begin(now=5, missing=("s3",)))
    assert (run.status, run.waits, len(orders(sent))) == (Run.RUNNING, "", 3)


def test_what_failed_is_retried_later_and_later_and_counts_only_then() -> None:
    rule = RetryLegs(times=2, wait=10, backoff=3)
    run, _ = after(a_run(1, max_failures=Amount(0), retry=rule), BEGIN)
    run, found = after(run, said(1, Step.FAILED, now=5))
    leg = run.legs["r.s1"]
    assert (leg.status, leg.not_before, run.status) == (Leg.PENDING, 15, Run.RUNNING)
    assert [one.why for one in found if isinstance(one, Note)] == ["retry 1 of 2"]
    assert next_wakeup(run) == 15
    run, sent = after(run, Tick(now=14), Tick(now=16))
    assert orders(sent) == [("r.s1", 2, "retry")]
    again = replace(said(1, Step.FAILED, seq=2, now=20), order=2, applied=2)
    run, _ = after(run, again)
    assert run.legs["r.s1"].not_before == 50
    run, _ = after(run, Tick(now=51), replace(said(1, Step.FAILED, seq=3, now=60), order=3, applied=3))
    assert (run.legs["r.s1"].status, run.status) == (Leg.FAILED, Run.FAILED)


ENDED = {
    "failed": (Step.FAILED, Leg.FAILED),
    "timed out": (Step.TIMED_OUT, Leg.FAILED),
    "indeterminate": (Step.INDETERMINATE, Leg.INDETERMINATE),
    "unreachable": (Step.NOT_RUN, Leg.FAILED),
}


@pytest.mark.parametrize("ended", ENDED)
@pytest.mark.parametrize("on", ENDED)
def test_only_the_classes_of_failures_that_are_named_are_retried(on: str, ended: str) -> None:
    rule = RetryLegs(times=1, on=(on,))
    step, status = ENDED[ended]
    run, _ = after(a_run(1, retry=rule), BEGIN, said(1, step, status=status))
    assert (run.legs["r.s1"].status is Leg.PENDING) is (on == ended)


@pytest.mark.parametrize("wrong", [{"times": 0}, {"times": 1, "on": []}, {"times": 1, "on": ["weather"]}])
def test_a_retry_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        convert({"retry": wrong}, Rollout)
