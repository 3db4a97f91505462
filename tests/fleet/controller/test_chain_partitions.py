"""A system that is cut off at each moment of its leg, for minutes or until after the deadline (33)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.fleet.controller.chain_kit import (
    RESTS,
    LegAgent,
    leg_agent,
    legs,
    on_bench,
    rounds,
    start,
    status,
    take_missed,
)
from tests.fleet.controller.kit import Bench

from saltern.fleet.controller.chains import views
from saltern.fleet.controller.chains.desk import Started
from saltern.fleet.controller.chains.gates import Ballot, Voter
from saltern.fleet.protocol.messages import Job
from saltern.fleet.store import chain_runs

DEADLINE, MINUTES = 3600.0, 300.0
GOES_DOWN = {"status": "rebooting", "down_in": 10.0, "back_in": DEADLINE * 3}
MOMENTS = ("before it accepts", "during an action", "over a reboot", "at a gate", "at its end")
BEGUN = ("during an action", "over a reboot", "at its end")


async def begin(bench: Bench, agent: LegAgent, moment: str) -> tuple[Started, Job | None]:
    """A run that has come to this moment on the system."""
    gates = [{"action": "b", "needed": 1}] if moment == "at a gate" else []
    agent.deaf, agent.holds = moment == "before it accepts", moment in BEGUN
    made = await start(bench, rollout={"deadline": DEADLINE, "grace": 5, "step_gates": gates})
    await rounds(bench)
    if moment not in BEGUN:
        return made, None
    (job,) = agent.waiting
    agent.waiting.clear()
    agent.node(job).work()
    going = GOES_DOWN if moment == "over a reboot" else {}
    bench.chain_keeper.on_progress(job.jid, agent.id, {**agent.report(agent.node(job)), **going})
    await rounds(bench, 2)
    return made, job


async def cut_off(bench: Bench, agent: LegAgent, made: Started, seconds: float) -> None:
    """Nothing reaches it, and it reaches nobody; it works on by itself. Meanwhile the gate is opened."""
    agent.deaf = True
    bench.board.found([], [agent.id])
    await rounds(bench, 2)
    with bench.database.read() as connection:
        shown = views.show_run(connection, made.run)
    assert shown is not None
    for gate in shown["gates"]:
        ballot = Ballot(approves=True, plan_sha256=made.plan_sha256)
        await bench.fleet.chains.vote(Voter("ann"), made.run, gate["gate"], ballot)
    await rounds(bench, 4)
    for node in agent.nodes.values():
        while node.status not in RESTS:
            node.work()
    bench.clock.ahead += seconds
    await rounds(bench)


async def come_back(bench: Bench, agent: LegAgent, job: Job | None) -> None:
    """It hears what it has missed, and reports what it did."""
    bench.board.heard(agent.id)
    agent.deaf, agent.holds, agent.ahead = False, False, bench.clock.ahead
    await take_missed(agent, await agent.sync())
    if job is not None:
        await agent.answer(job)
    await rounds(bench)


def is_away(bench: Bench, name: str) -> dict[str, bool]:
    with bench.database.read() as connection:
        return {row["system"]: bool(row["away"]) for row in chain_runs.leg_rows(connection, name)}


def played(moment: str, seconds: float, folder: Path) -> dict[str, Any]:
    """What is known while the system is away, and after it came back."""
    seen: dict[str, Any] = {}

    @on_bench
    async def scenario(bench: Bench) -> None:
        one, other = await leg_agent(bench, "s0"), await leg_agent(bench, "s1")
        made, job = await begin(bench, one, moment)
        await cut_off(bench, one, made, seconds)
        seen["meanwhile"], seen["away"] = legs(bench, made.run), is_away(bench, made.run)
        await come_back(bench, one, job)
        seen["legs"], seen["status"] = legs(bench, made.run), status(bench, made.run)
        seen["done"] = [agent.nodes[made.run].trace if agent.nodes else [] for agent in (one, other)]

    scenario(folder)
    return seen


@pytest.mark.parametrize("moment", MOMENTS)
def test_33_a_system_that_is_cut_off_for_minutes_at_any_moment_ends_its_leg(
    moment: str, tmp_path: Path
) -> None:
    seen = played(moment, MINUTES, tmp_path)
    assert seen["away"]["s0"], "it is known that it is away"
    assert seen["meanwhile"]["s0"] not in ("failed", "expired"), "silence is no failure"
    assert seen["meanwhile"]["s1"] == "succeeded", "the other one is not held up"
    assert (seen["legs"], seen["status"]) == ({"s0": "succeeded", "s1": "succeeded"}, "succeeded")
    assert seen["done"] == [[0, 1], [0, 1]], "each action once"


@pytest.mark.parametrize("moment", MOMENTS)
def test_33_one_that_is_cut_off_until_after_the_deadline_is_known_by_what_it_did(
    moment: str, tmp_path: Path
) -> None:
    """What it did by itself is what counts in the end; what it has not heard of is not begun any more."""
    seen = played(moment, DEADLINE + 60, tmp_path)
    assert seen["meanwhile"] == {"s0": "expired", "s1": "succeeded"}
    did = moment in BEGUN
    assert seen["legs"] == {"s0": "succeeded" if did else "expired", "s1": "succeeded"}
    assert seen["status"] == ("succeeded" if did else "partial"), "a late result corrects the run"
    come = {"before it accepts": [], "at a gate": [0]}
    assert seen["done"] == [come.get(moment, [0, 1]), [0, 1]]
