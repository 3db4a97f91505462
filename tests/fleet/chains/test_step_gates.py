"""Gates before a step: for the run, for each wave, for each leg."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import convert
from tests.fleet.chains.simulated import Simulation

from saltern.chains.statuses import ENDS, Leg, Run, Step
from saltern.fleet.chains.events import Begin, Closed, Opened, OperatorAnswer, Tick
from saltern.fleet.chains.model import StepPlan
from saltern.fleet.chains.rollout import Rollout, gates_of, make_run
from saltern.language.diagnostics import OperationError

PLAN = tuple(StepPlan(id=name, place=at) for at, name in enumerate("abc"))
NAMES = {"run": ["step b"], "wave": ["wave 1 step b", "wave 2 step b"], "leg": ["s1 step b", "s2 step b"]}


def simulation(per: str, **more: Any) -> tuple[Simulation, list[str]]:
    ask = convert({"waves": [1], "step_gates": [{"action": "b", "per": per}], **more}, Rollout)
    run = make_run("r", "v", {"s1": PLAN, "s2": PLAN}, ask, now=0.0)
    results: dict[str, tuple[Step, ...]] = dict.fromkeys(("s1", "s2"), (Step.SUCCEEDED,) * 3)
    return Simulation(run, results), list(gates_of(ask, run))


def settle(sim: Simulation) -> None:
    for _ in range(12):
        for leg in sim.nodes:
            sim.work(leg)
        sim.exchange()


def traces(sim: Simulation) -> list[list[int]]:
    return [node.trace for node in sim.nodes.values()]


@pytest.mark.parametrize("per", ["run", "wave", "leg"])
def test_50_no_leg_passes_a_gate_that_is_not_open(per: str) -> None:
    sim, names = simulation(per)
    assert names == NAMES[per]
    sim.feed(Begin(now=0))
    settle(sim)
    assert traces(sim) == [[0], []]
    leg = sim.run.legs["r.s1"]
    assert (leg.status, leg.waits_for) == (Leg.WAITING, f"approval of gate {names[0]!r}")
    sim.feed(Opened(now=1, gate=names[0]))
    settle(sim)
    assert traces(sim) == [[0, 1, 2], [0, 1, 2] if per == "run" else [0]]
    sim.feed(Opened(now=1, gate=names[-1]))
    settle(sim)
    assert (traces(sim), sim.run.status) == ([[0, 1, 2], [0, 1, 2]], Run.SUCCEEDED)


@pytest.mark.parametrize(
    ("per", "ends"), [("run", ["cancelled", "cancelled"]), ("leg", ["cancelled", "succeeded"])]
)
def test_50_a_gate_that_is_rejected_or_expires_ends_only_what_is_behind_it(per: str, ends: list[str]) -> None:
    sim, names = simulation(per)
    sim.feed(Begin(now=0))
    settle(sim)
    sim.feed(Closed(now=1, gate=names[0], why="no"))
    if per == "leg":
        sim.feed(Opened(now=1, gate=names[1]))
    settle(sim)
    assert [leg.status.value for leg in sim.run.legs.values()] == ends
    assert sim.nodes["r.s1"].trace == [0]
    assert sim.run.status in ENDS


@pytest.mark.parametrize("gate", ["gate", "wave_gate"])
@pytest.mark.parametrize("word", ["retry", "skip", "done"])
def test_50_no_answer_of_an_operator_begins_what_was_not_approved(gate: str, word: Any) -> None:
    sim, _ = simulation("run", step_gates=[], **{gate: {"needed": 1}})
    sim.feed(Begin(now=0))
    settle(sim)
    sim.feed(Closed(now=1, gate="run" if gate == "gate" else "wave 2", why="no"))
    settle(sim)
    over, done = sim.run.status, traces(sim)
    sim.feed(OperatorAnswer(now=2, leg="r.s2", word=word, step="a" if word != "retry" else ""))
    settle(sim)
    assert (sim.run.status, traces(sim), traces(sim)[1]) == (over, done, [])


def test_50_a_gate_before_the_first_step_holds_the_leg_back() -> None:
    sim, _ = simulation("run", step_gates=[{"action": "a"}])
    sim.feed(Begin(now=0))
    settle(sim)
    assert (traces(sim), sim.sends) == ([[], []], [])
    sim.feed(Opened(now=1, gate="step a"))
    settle(sim)
    assert sim.run.status is Run.SUCCEEDED


@pytest.mark.parametrize("gates", [[{"action": "x"}], [{"action": "b"}, {"action": "b", "per": "leg"}]])
def test_50_a_gate_before_nothing_or_twice_is_refused(gates: list[Any]) -> None:
    with pytest.raises(OperationError, match="chain-gate"):
        simulation("run", step_gates=gates)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_50_under_any_schedule_no_step_is_done_before_its_gates(seed: int) -> None:
    dice = Random(seed)
    asked = [
        {"action": one, "per": dice.choice(["run", "wave", "leg"])} for one in "abc" if dice.random() < 0.6
    ]
    sim, names = simulation(
        "run", step_gates=asked, lockstep=dice.random() < 0.5, waves=dice.choice([[], [1]])
    )
    sim.feed(Begin(now=0))
    left = list(names)
    while left or sim.orders or sim.reports or dice.random() < 0.9:
        what = dice.random()
        if what < 0.2 and left:
            sim.feed(Opened(now=1, gate=left.pop(dice.randrange(len(left)))))
        elif what < 0.5:
            sim.work(dice.choice(list(sim.nodes)))
        elif what < 0.8:
            sim.exchange()
        for node in sim.nodes.values():
            plan = sim.run.legs[node.leg].plan
            assert all(not plan[at].gate or plan[at].gate in sim.run.opened for at in node.trace)
    settle(sim)
    sim.feed(Tick(now=2))
    settle(sim)
    assert sim.run.status is Run.SUCCEEDED
