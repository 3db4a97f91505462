"""Runs under any schedule: systems that fail, reports that are lost, operators who say everything."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from random import Random

import pytest
from hypothesis import event as observe
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.fleet.chains.simulated import Simulation

from saltern.chains.statuses import BAD, ENDS, OVER, Leg, Run, Step, Wave
from saltern.fleet.chains.amounts import Amount
from saltern.fleet.chains.deadlines import next_wakeup
from saltern.fleet.chains.events import (
    Away,
    Back,
    Begin,
    Cancel,
    Command,
    Event,
    OperatorAnswer,
    Pause,
    Resume,
    Send,
    Tick,
)
from saltern.fleet.chains.legs import is_failed
from saltern.fleet.chains.model import Failure, RetryLegs, RunState, StepPlan, Strategy
from saltern.fleet.chains.versions import new_run

DEADLINE = 1000.0
RESULTS = [Step.SUCCEEDED] * 5 + [Step.FAILED, Step.TIMED_OUT, Step.INDETERMINATE, Step.SKIPPED]
LIMITS = [None, *map(Amount, range(4)), *(Amount(one, True) for one in (0, 10, 34, 50))]
WAVES: list[tuple[int | str, ...]] = [(), (1, "rest"), (1, "34%"), (2,), (1, "10%", "rest")]
POLICIES: list[Failure] = ["stop", "stop", "continue", "pause"]
AGAIN = ("retry", "skip", "done")
SCHEDULES = given(st.integers(0, 2**32))


def _strategy(dice: Random) -> Strategy:
    return Strategy(
        waves=dice.choice(WAVES),
        max_in_flight=dice.choice([None, Amount(1), Amount(2), Amount(3)]),
        max_failures=dice.choice(LIMITS),
        count_away=dice.random() < 0.5,
        on_halt=dice.choice(["finish", "pause"]),
        soak=dice.choice([0, 5]),
        leg_time=dice.choice([None, 40]),
        grace=dice.choice([0, 20]),
        autonomy=dice.choice(["full", "full", "per_segment", "per_step"]),
        retry=dice.choice([None, None, None, RetryLegs(times=1, wait=5)]),
    )


def _simulation(dice: Random, strategy: Strategy) -> Simulation:
    kinds = [dice.choice(POLICIES) for _ in range(dice.randint(1, 4))]
    plan = tuple(StepPlan(id=f"a{at}", on_failure=kind) for at, kind in enumerate(kinds))
    systems = [f"s{at}" for at in range(dice.randint(1, 6))]
    results = {one: tuple(dice.choice(RESULTS) for _ in plan) for one in systems}
    return Simulation(new_run("r", "v1", dict.fromkeys(systems, plan), strategy, DEADLINE), results)


def _history(seed: int) -> Simulation:
    """A run after some things have happened to it, with everything checked that holds at every moment."""
    dice = Random(seed)
    sim = _simulation(dice, _strategy(dice))
    sim.checks += [_in_flight, _waves_in_order, _no_new_legs, _threshold, _leg_moves(sim)]
    if dice.random() < 0.95:
        sim.feed(Begin(now=0))
    trouble = dice.choice([0, 0, 1, 3])
    names = ["work"] * 6 + ["order", "report"] * 4 + ["time"] + ["operator", "presence"] * trouble
    for _ in range(dice.randint(0, 80)):
        HAPPENINGS[dice.choice(names)](sim, dice)
    return sim


def _leg(sim: Simulation, dice: Random) -> str:
    return dice.choice(sorted(sim.nodes))


def _order(sim: Simulation, dice: Random) -> None:
    """One order arrives; it may arrive again later, and in any order. None is lost: they are sent until
    they are acknowledged."""
    if sim.orders:
        at = dice.randrange(len(sim.orders))
        sim.nodes[sim.orders[at].leg].take(sim.orders[at])
        if dice.random() < 0.8:
            sim.orders.pop(at)


def _report(sim: Simulation, dice: Random) -> None:
    if sim.reports:
        at = dice.randrange(len(sim.reports))
        fate = dice.choice(["arrives", "arrives", "twice", "lost"])
        if fate != "lost":
            sim.feed(sim.reports[at])
        if fate != "twice":
            sim.reports.pop(at)


def _time(sim: Simulation, dice: Random) -> None:
    sim.now += dice.choice([0, 1, 10, 10, 100])
    sim.feed(Tick(now=sim.now))


def _operator(sim: Simulation, dice: Random) -> None:
    sim.feed(_word(sim.now, _leg(sim, dice), dice))


def _word(now: float, leg: str, dice: Random) -> Event:
    word = dice.choice(["resume", "retry", "skip", "done"])
    everything: list[Event] = [
        *(kind(now=now, legs=legs) for kind in (Pause, Resume, Resume) for legs in ((), (leg,))),
        *[OperatorAnswer(now=now, leg=leg, word=word)] * 4,  # type: ignore[arg-type]
        *[Resume(now=now, despite_failures=True)] * 2,
        Cancel(now=now, legs=(leg,)),
        Cancel(now=now),
    ]
    return dice.choice(everything)


def _presence(sim: Simulation, dice: Random) -> None:
    sim.feed(dice.choice([Away, Back])(now=sim.now, leg=_leg(sim, dice)))


HAPPENINGS: dict[str, Callable[[Simulation, Random], None]] = {
    "work": lambda sim, dice: sim.work(_leg(sim, dice)),
    "order": _order,
    "report": _report,
    "time": _time,
    "operator": _operator,
    "presence": _presence,
}


def _until_over(sim: Simulation) -> None:
    """Time passes, and nothing else: what is waited for by the clock comes to an end."""
    for _ in range(100):
        wake = next_wakeup(sim.run)
        if wake is None:
            return
        sim.now = max(sim.now, wake)
        sim.feed(Tick(now=sim.now))
    pytest.fail("time alone changes something again and again")


# -- what holds at every moment ----------------------------------------------------------------------


def _first_sends(before: RunState, commands: tuple[Command, ...]) -> list[str]:
    new = [one for one in commands if isinstance(one, Send) and one.verb == "run"]
    return [one.leg for one in new if before.legs[one.leg].sent is None]


def _in_flight(before: RunState, after: RunState, commands: tuple[Command, ...]) -> None:
    most = after.strategy.max_in_flight
    if most is not None and _first_sends(before, commands):
        assert sum(one.is_in_flight for one in after.legs.values()) <= most.number


def _waves_in_order(before: RunState, after: RunState, commands: tuple[Command, ...]) -> None:
    for leg in _first_sends(before, commands):
        earlier = after.waves[: after.legs[leg].wave]
        assert all(one.status is Wave.OVER for one in earlier)
        assert after.now >= max((one.soak_until for one in earlier), default=0)


def _no_new_legs(before: RunState, after: RunState, commands: tuple[Command, ...]) -> None:
    if _first_sends(before, commands):
        assert after.status is Run.RUNNING
        assert after.now < after.deadline


def _threshold(before: RunState, after: RunState, commands: tuple[Command, ...]) -> None:
    limit = after.strategy.max_failures
    counted = [one for one in after.legs.values() if is_failed(after, one) and one.id not in after.excused]
    started = sum(one.order > 0 for one in after.legs.values())
    if limit is None:
        assert after.status is not Run.HALTED
        return
    more = len(counted) > (limit.number * started / 100 if limit.percent else limit.number)
    if after.status is Run.RUNNING:
        assert not more
    if after.status is Run.HALTED is not before.status:
        assert more


def _leg_moves(sim: Simulation) -> Callable[[RunState, RunState, tuple[Command, ...]], None]:
    """What has succeeded stays so; what has ended is taken up again only if an operator ordered that."""

    def check(before: RunState, after: RunState, commands: tuple[Command, ...]) -> None:
        for name, leg in after.legs.items():
            was = before.legs[name].status
            if was in (Leg.SUCCEEDED, Leg.SUCCEEDED_WITH_SKIPS):
                assert leg.status is was
            if was in OVER and leg.status not in OVER:
                sent = [one for one in (*sim.commands, *commands) if isinstance(one, Send)]
                ordered = {one.verb for one in sent if one.leg == name}
                assert ({leg.again} | ordered) & {"retry", "skip", "done"}

    return check


# -- what holds in the end ---------------------------------------------------------------------------


@SCHEDULES
@example(12175)  # one system has failed while another is to be taken up again
@settings(max_examples=400, deadline=None)
def test_33_every_run_ends_and_every_leg_of_it(seed: int) -> None:
    sim = _history(seed)
    _until_over(sim)
    assert sim.run.status in ENDS
    assert all(leg.is_over for leg in sim.run.legs.values())
    observe(sim.run.status.value)


@SCHEDULES
@settings(max_examples=400, deadline=None)
def test_44_no_order_is_sent_twice_and_each_outranks_the_one_before(seed: int) -> None:
    sim = _history(seed)
    _until_over(sim)
    numbers: dict[str, list[int]] = defaultdict(list)
    for one in sim.sends:
        assert one.verb in ("run", *AGAIN) or numbers[one.leg]
        numbers[one.leg].append(one.number)
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values())
    for leg, state in sim.run.legs.items():
        if state.again_from is not None:
            continue  # it was begun anew: the same order may be needed once more
        mine = [(one.verb, one.until) for one in sim.sends if one.leg == leg]
        assert all(one != other for one, other in pairwise(mine) if one[0] in ("run", "pause", "cancel"))


@SCHEDULES
@settings(max_examples=400, deadline=None)
def test_33_a_late_result_corrects_and_both_sides_agree(seed: int) -> None:
    sim = _history(seed)
    _until_over(sim)
    for _ in range(20):  # now everything arrives after all
        for every in sim.nodes:
            sim.work(every)
        sim.exchange()
    for name, node in sim.nodes.items():
        leg = sim.run.legs[name]
        if not leg.order:
            assert not node.trace
        elif leg.status is not node.status:
            assert (leg.status, leg.ending, node.status) == (Leg.EXPIRED, "deadline", Leg.CANCELLED)
        assert node.status is Leg.PENDING or [one.status for one in leg.steps] == node.steps
    _until_over(sim)  # a leg that was taken up again has opened its run, and ends as any other
    assert sim.run.status in ENDS


@SCHEDULES
@settings(max_examples=400, deadline=None)
def test_56_each_system_runs_its_steps_in_order_and_stops_where_it_must(seed: int) -> None:
    sim = _history(seed)
    _until_over(sim)
    for node in sim.nodes.values():
        assert node.trace == sorted(node.trace)
    for leg in sim.run.legs.values():
        for at, step in enumerate(leg.steps):
            stops = [
                one.id
                for one, state in zip(leg.plan[:at], leg.steps[:at], strict=True)
                if state.status in BAD and one.on_failure != "continue"
            ]
            if step.status is Step.NOT_RUN:
                assert step.blocked_by == (stops[0] if stops else "")
            else:
                assert not stops or step.status is Step.CANCELLED


@SCHEDULES
@settings(max_examples=200, deadline=None)
def test_32_the_same_event_a_second_time_asks_for_nothing(seed: int) -> None:
    sim, dice = _history(seed), Random(seed + 1)
    leg = _leg(sim, dice)
    event = dice.choice([_word(sim.now, leg, dice), sim.nodes[leg].report(sim.now), Tick(now=sim.now)])
    sim.feed(event)
    assert sim.feed(event) == ()


@SCHEDULES
@settings(max_examples=100, deadline=None)
def test_57_what_happens_to_one_system_is_nothing_to_the_others(seed: int) -> None:
    """Without limits, in one wave: the orders to all others are the same, whatever one of them does."""
    traces = []
    for fate in ("lives", "is gone"):
        dice = Random(seed)
        sim = _simulation(dice, Strategy(grace=20))
        hurt = _leg(sim, dice)
        sim.feed(Begin(now=0))
        for _ in range(12):
            for leg in sim.nodes:
                if leg != hurt or fate == "lives":
                    sim.work(leg)
            sim.exchange()
        _until_over(sim)
        others = [one for name, one in sim.run.legs.items() if name != hurt]
        traces.append(([one for one in sim.sends if one.leg != hurt], others))
    assert traces[0] == traces[1]
