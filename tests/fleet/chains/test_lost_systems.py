"""Systems that go down and do not come back, that are given up, and that come back from an earlier state."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.fleet.chains.test_decisions import BEGIN, TWO, a_run, after, orders, said

from saltern.chains.statuses import Leg, Run, Step
from saltern.fleet.chains.amounts import Amount
from saltern.fleet.chains.control import NO_CHANGE, Order, events_of, outcome
from saltern.fleet.chains.deadlines import next_wakeup
from saltern.fleet.chains.estimate import LEAST_RETURN, USUAL_RETURN, usual_returns
from saltern.fleet.chains.events import Away, Back, Event, Gone, OperatorAnswer, Restored, Tick
from saltern.fleet.chains.model import RunState

ROOM: dict[str, Any] = {"leg_time": 90_000.0}


def down(number: int = 1, *, back_in: float = 0, now: float = 10, seq: int = 1) -> Event:
    report = said(number, Step.SUCCEEDED, Step.RUNNING, status=Leg.REBOOTING, seq=seq, now=now)
    return replace(report, down_in=600.0, back_in=back_in)


def run_with_one_down(count: int = 3, **more: Any) -> RunState:
    begun = replace(a_run(count, TWO, **{**ROOM, **more}), deadline=100_000.0)
    return after(begun, BEGIN, down(back_in=300), Away(now=12, leg="r.s1"))[0]


def test_a_system_that_goes_down_must_be_back_by_a_time_of_the_controllers_clock() -> None:
    run = run_with_one_down()
    leg = run.legs["r.s1"]
    assert (leg.status, leg.away_since, leg.back_by) == (Leg.REBOOTING, 12, 910)
    assert next_wakeup(run) == 910
    again, _ = after(run, down(back_in=300, now=500, seq=2))
    assert again.legs["r.s1"].back_by == 910, "a repeated report is no new time"


def test_without_a_deadline_of_its_own_it_has_as_long_as_it_usually_takes() -> None:
    run = replace(a_run(1, TWO, **ROOM), deadline=100_000.0)
    run = replace(run, legs={"r.s1": replace(run.legs["r.s1"], usual_return=720.0)})
    assert after(run, BEGIN, down())[0].legs["r.s1"].back_by == 10 + 600 + 720


def test_one_that_is_not_back_has_expired_and_counts_as_failed_although_it_is_away() -> None:
    run, _ = after(run_with_one_down(max_failures=Amount(0)), Tick(now=909))
    assert (run.legs["r.s1"].status, run.status) == (Leg.REBOOTING, Run.RUNNING)
    run, sent = after(run, Tick(now=911))
    leg = run.legs["r.s1"]
    assert (leg.status, run.status) == (Leg.EXPIRED, Run.HALTED)
    assert "did not come back" in leg.waits_for and "s1" in run.halted
    assert not orders(sent), "it may still come back, and then it continues"


def test_one_that_is_there_is_not_lost_however_long_its_reboot_takes() -> None:
    run, _ = after(run_with_one_down(), Back(now=800, leg="r.s1"), Tick(now=5000))
    assert run.legs["r.s1"].status is Leg.REBOOTING


def test_one_that_comes_back_late_continues_and_its_result_corrects() -> None:
    run, _ = after(run_with_one_down(1), Tick(now=911))
    assert run.status is Run.EXPIRED
    run, _ = after(run, said(1, Step.SUCCEEDED, Step.RUNNING, seq=5, now=1000))
    assert (run.legs["r.s1"].status, "it is back" in run.legs["r.s1"].waits_for) == (Leg.EXPIRED, True)
    run, _ = after(run, said(1, Step.SUCCEEDED, Step.SUCCEEDED, seq=6, now=1001))
    assert (run.legs["r.s1"].status, run.status) == (Leg.SUCCEEDED, Run.SUCCEEDED)
    assert next_wakeup(run) is None


def test_one_that_stays_away_is_asked_to_end_when_its_time_is_over_also_after_the_run() -> None:
    run, _ = after(run_with_one_down(1), Tick(now=911))
    assert (run.status, next_wakeup(run)) == (Run.EXPIRED, 90_000)
    run, sent = after(run, Tick(now=90_001), Tick(now=90_002))
    assert [verb for _, _, verb in orders(sent)] == ["cancel"]
    assert next_wakeup(run) is None


def test_a_lost_system_keeps_its_place_in_its_group() -> None:
    run = replace(a_run(2, TWO, max_unavailable=Amount(1), **ROOM), deadline=100_000.0)
    run, _ = after(run, BEGIN, down(back_in=300), Away(now=12, leg="r.s1"), Tick(now=911))
    assert (run.legs["r.s1"].status, run.legs["r.s2"].sent) == (Leg.EXPIRED, None)


def give_up(run: RunState, *systems: str) -> tuple[RunState, dict[str, str]]:
    order = Order(verb="unlock", systems=systems, reason="its disk is broken")
    found, _ = after(run, *events_of(run, order, 20))
    return found, outcome(run, found, order)


def test_an_operator_gives_up_who_is_away_and_no_other() -> None:
    run, said_of = give_up(run_with_one_down(2), "s1", "s2")
    assert (run.legs["r.s1"].status, run.legs["r.s2"].status) == (Leg.EXPIRED, Leg.PENDING)
    assert "its disk is broken" in run.legs["r.s1"].waits_for
    assert said_of == {"s1": "expired", "s2": f"{NO_CHANGE}: its system is connected; cancel ends it"}
    late, _ = after(run, said(1, Step.SUCCEEDED, Step.SUCCEEDED, seq=9, now=30))
    assert late.legs["r.s1"].status is Leg.SUCCEEDED


def test_who_leaves_the_fleet_ends_at_once_and_a_result_that_was_under_way_still_corrects() -> None:
    run = after(a_run(3, TWO, max_in_flight=Amount(1)), BEGIN)[0]
    gone = Gone(now=20, why={"r.s1": "removed", "r.s2": "removed"})
    run, commands = after(run, gone)
    statuses = [leg.status for leg in run.legs.values()]
    assert statuses == [Leg.EXPIRED, Leg.CANCELLED, Leg.PENDING]
    assert orders(commands) == [("r.s3", 1, "run")], "the next one has its place"
    assert after(run, gone)[0] == run
    late, _ = after(run, said(1, Step.SUCCEEDED, Step.SUCCEEDED, seq=9, now=30))
    assert late.legs["r.s1"].status is Leg.SUCCEEDED


def test_a_system_that_was_put_back_is_in_doubt_until_an_operator_decides() -> None:
    run, _ = after(a_run(2, TWO), BEGIN, said(1, Step.SUCCEEDED, Step.RUNNING, seq=40))
    run, sent = after(run, Restored(now=5, leg="r.s1"))
    assert run.legs["r.s1"].status is Leg.INDETERMINATE
    assert orders(sent) == [("r.s1", 2, "cancel")]
    for order in (1, 2):
        old = replace(said(1, Step.SUCCEEDED, Step.SUCCEEDED, seq=25 + order), order=order, applied=1)
        run, sent = after(run, old)
        assert (run.legs["r.s1"].status, sent) == (Leg.INDETERMINATE, []), "what it says is of before"
    run, sent = after(run, OperatorAnswer(now=6, leg="r.s1", word="retry"))
    assert orders(sent) == [("r.s1", 3, "retry")]
    new = replace(said(1, Step.SUCCEEDED, Step.SUCCEEDED, seq=28), order=3, applied=3)
    assert after(run, new)[0].legs["r.s1"].status is Leg.SUCCEEDED


def test_a_system_that_had_not_begun_is_not_in_doubt() -> None:
    run, _ = after(a_run(1, TWO), BEGIN)
    assert after(run, Restored(now=5, leg="r.s1"))[0].legs["r.s1"].status is Leg.PENDING


RETURNS = {
    "nothing is known": ({}, USUAL_RETURN),
    "too little is known": ({"a": [60.0, 60.0]}, USUAL_RETURN),
    "it is quick": ({"a": [20.0, 30.0, 25.0]}, LEAST_RETURN),
    "it is slow": ({"a": [240.0, 300.0, 250.0]}, 900.0),
    "it is slower than anything": ({"a": [5000.0, 4000.0, 4500.0]}, USUAL_RETURN),
    "the others are known": ({"b": [400.0] * 6, "c": [300.0] * 4}, 1200.0),
    "it is known better than the others": ({"a": [300.0] * 3, "b": [1.0] * 20}, 900.0),
}


@pytest.mark.parametrize("name", RETURNS)
def test_how_long_a_system_has_is_learned_from_its_reboots(name: str) -> None:
    times, limit = RETURNS[name]
    assert usual_returns(times, ["a"]) == {"a": limit}
