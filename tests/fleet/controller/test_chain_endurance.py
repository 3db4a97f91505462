"""Runs of chains in the long run: slow controllers, windows that close, agents of other versions, faults.

The numbers are those of docs/internals/chain-tests.md. ``CHAOS_SECONDS`` (`make chaos`) makes the last
long, and 37 five times as large.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.fleet.controller.chain_kit import (
    LegAgent,
    counted_writes,
    leg_agent,
    legs,
    matrix,
    on_bench,
    order,
    rounds,
    start,
    status,
    take_missed,
)
from tests.fleet.controller.kit import Bench, running_bench
from tests.fleet.harness import run

from saltern.chains.statuses import OVER, Leg, Step
from saltern.fleet.bus.service import PARALLEL
from saltern.fleet.store import chain_runs
from saltern.fleet.store.calendars import StoredCalendar, remove_calendar, set_calendar
from saltern.system.clock import stamp

LONG = float(os.environ.get("CHAOS_SECONDS", "0"))
MANY = 1000 if LONG else 200
PATIENCE = 2000.0  # seconds: on a machine that is busy none gives up, so that all of them ask at once
FOUR = "chain: four\nactions:\n" + "".join(f"  - {{id: {one}, command: 'true'}}\n" for one in "abcd")


# -- 37 -----------------------------------------------------------------------------------------------


@pytest.mark.timeout(3600)
def test_37_all_systems_that_come_back_at_once_after_a_power_cut_end_their_legs(tmp_path: Path) -> None:
    """Half of them had begun, the others had not heard of it. Each asks what it has missed, all at once; what
    is answered at the same time is written together."""

    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            bench.board.is_known = True
            few, many = await _power_cut(bench, "few", 20), await _power_cut(bench, "many", MANY)
            assert few >= 1 and many <= few + 1 + MANY // 2 // PARALLEL, (few, many)

    run(scenario(), timeout=3000)


async def _power_cut(bench: Bench, name: str, number: int) -> int:
    """How often the database was written to while all of them came back."""
    agents = [await leg_agent(bench, f"{name}{at}") for at in range(number)]
    for at, agent in enumerate(agents):
        agent.holds, agent.deaf = bool(at % 2), not at % 2
    made = await start(bench, FOUR, target=f"{name}*")
    await rounds(bench, 2)
    assert sum(len(agent.waiting) for agent in agents) == number // 2, "the power is cut in the middle"
    with counted_writes(bench) as written:
        await asyncio.gather(*(_boot(agent) for agent in agents))
        await rounds(bench, 8)
    assert Counter(legs(bench, made.run).values()) == {"succeeded": number}
    assert all(agent.nodes[made.run].trace == [0, 1, 2, 3] for agent in agents), "each action once"
    return written["transactions"]


async def _boot(agent: LegAgent) -> None:
    """Up again: it asks what it has missed, and continues what it had begun."""
    agent.deaf, agent.instance, agent.starts = False, f"{agent.id}-2", 2
    await take_missed(agent, await agent.sync(timeout=PATIENCE))
    await agent.let_go()


# -- 39 -----------------------------------------------------------------------------------------------


@on_bench
async def test_39_a_controller_that_is_slow_keeps_the_newest_of_each_leg_and_loses_no_result(
    bench: Bench,
) -> None:
    """Systems report again and again, and go on, while nothing is taken in; what is kept has a bound."""
    agents = [await leg_agent(bench, f"s{number}") for number in range(5)]
    made = await start(bench)
    await rounds(bench, 1)
    for agent in agents:
        (job,) = agent.jobs
        for _ in range(200):
            bench.chain_keeper.on_progress(job.jid, agent.id, agent.report(agent.node(job)))
    assert len(bench.chain_keeper._live) == len(agents)
    await rounds(bench)
    assert Counter(legs(bench, made.run).values()) == {"succeeded": 5}


# -- 51 -----------------------------------------------------------------------------------------------


def _window(bench: Bench, name: str, begin: float, end: float, kind: str = "allow") -> None:
    """A calendar with one window, in seconds from now."""
    now = bench.clock()
    times = [stamp(now + at).replace("-", "").replace(":", "").replace(" ", "T") for at in (begin, end)]
    text = (
        "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:1\n"
        f"DTSTART:{times[0]}Z\nDTEND:{times[1]}Z\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    with bench.database.write() as connection:
        set_calendar(
            connection,
            StoredCalendar(
                name=name, kind=kind, text=text, zone="UTC", target="*", note="", author="joe", changed=now
            ),
        )


@on_bench
async def test_51_a_window_that_closes_in_mid_step_pauses_before_the_next_and_the_next_one_continues(
    bench: Bench,
) -> None:
    agent = await leg_agent(bench, "web1")
    agent.holds = True
    _window(bench, "night", -60, 30)
    made = await start(bench, FOUR)
    await rounds(bench)
    (driving,) = agent.waiting
    agent.node(driving).work()  # the first step ends inside the window
    bench.clock.ahead = 60.0
    await rounds(bench)
    assert [job.kwargs["verb"] for job in agent.jobs] == ["run", "pause"]
    assert matrix(bench, made.run)["web1"]["b"] == "not run"
    await agent.let_go()
    await rounds(bench)
    assert legs(bench, made.run) == {"web1": "paused"}
    _window(bench, "night", -10, 3600)  # the next night
    await rounds(bench)
    assert (legs(bench, made.run), agent.node(driving).trace) == ({"web1": "succeeded"}, [0, 1, 2, 3])


@on_bench
async def test_51_nothing_begins_before_a_window_and_denied_is_denied(bench: Bench) -> None:
    agent = await leg_agent(bench, "web1")
    _window(bench, "night", -60, 3600)
    _window(bench, "freeze", -30, 600, kind="deny")
    made = await start(bench)
    await rounds(bench)
    assert (agent.jobs, status(bench, made.run)) == ([], "scheduled")
    with bench.database.write() as connection:
        remove_calendar(connection, "freeze")
    await rounds(bench)
    assert status(bench, made.run) == "succeeded"


# -- 59 -----------------------------------------------------------------------------------------------


class OldAgent(LegAgent):
    """Of a version before this one: its reports lack what was added since."""

    def report(self, node: Any) -> dict[str, Any]:
        found = super().report(node)
        rows = [{"action": row["action"], "status": row["status"]} for row in found["steps"]]
        return {"status": found["status"], "seq": found["seq"], "steps": rows}


class NewAgent(LegAgent):
    """Of a version after this one: its reports have more than we know."""

    def report(self, node: Any) -> dict[str, Any]:
        found = super().report(node)
        rows = [{**row, "energy": {"joule": 1}, "output": ["a new form"]} for row in found["steps"]]
        return {**found, "steps": rows, "applied": node.applied, "weather": [1, 2]}


@on_bench
async def test_59_agents_of_the_version_before_and_after_do_the_same_run(bench: Bench) -> None:
    for name, kind in (("old", OldAgent), ("same", LegAgent), ("new", NewAgent)):
        agent = await leg_agent(bench, name, b=Step.FAILED)
        agent.__class__ = kind
    made = await start(bench)
    await rounds(bench)
    assert legs(bench, made.run) == dict.fromkeys(("old", "same", "new"), "failed")
    await order(bench, made.run, "retry")
    await rounds(bench)
    assert legs(bench, made.run) == dict.fromkeys(("old", "same", "new"), "succeeded")


# -- 60 -----------------------------------------------------------------------------------------------


def _fault(agents: list[LegAgent], bench: Bench, dice: Random) -> None:
    """One of the things that happen in a day."""
    one = dice.choice(agents)
    what = dice.randrange(6)
    if what == 0:
        one.holds = not one.holds
    elif what == 1:
        one.deaf = not one.deaf
    elif what == 2:
        one.silent = not one.silent
    elif what == 3:
        bench.board.found([], [one.id])
    elif what == 4:
        bench.clock.ahead += dice.choice([1.0, 30.0, 120.0])
    elif what == 5:
        bench.board.heard(one.id)


async def _heal(agents: list[LegAgent], bench: Bench) -> None:
    for one in agents:
        one.deaf = one.silent = False
        bench.board.heard(one.id)
        await one.let_go()


@pytest.mark.parametrize("seed", range(3 if not LONG else 1))
def test_60_after_any_day_of_faults_every_leg_is_over_and_as_its_system_says(
    seed: int, tmp_path: Any
) -> None:
    """Systems hold, do not answer, do not hear, are away; time jumps; operators order anything."""

    async def scenario(bench: Bench) -> None:
        end = time.monotonic() + LONG
        dice = Random(seed if not LONG else time.time_ns())
        agents = [await leg_agent(bench, f"s{number}") for number in range(10 if not LONG else 50)]
        for agent in agents:
            agent.results = {one: dice.choice([Step.SUCCEEDED] * 9 + [Step.FAILED]) for one in "abcd"}
        while True:
            rollout = {"deadline": 3600, "grace": 60, "max_failures": "50%", "canary": 2}
            made = await start(bench, FOUR, rollout=rollout)
            for _ in range(25):
                _fault(agents, bench, dice)
                if dice.random() < 0.15:
                    verb = dice.choice(["pause", "resume", "retry"])
                    await order(bench, made.run, verb, despite_failures=verb == "resume", more_time=600.0)
                await rounds(bench, 1)
            await _heal(agents, bench)
            await order(bench, made.run, "resume", despite_failures=True)
            await rounds(bench, 8)
            bench.clock.ahead += 4000.0
            await rounds(bench, 8)
            _check(bench, made.run, agents)
            if time.monotonic() >= end:
                return

    async def whole() -> None:
        async with running_bench(tmp_path) as bench:
            bench.board.is_known = True
            await scenario(bench)

    run(whole(), timeout=LONG + 120)


def _check(bench: Bench, run: str, agents: list[LegAgent]) -> None:
    with bench.database.read() as connection:
        rows = chain_runs.leg_rows(connection, run)
    assert all(Leg(row["status"]) in OVER for row in rows), "I5: zero open legs past their deadline"
    for agent in agents:
        if (node := agent.nodes.get(run)) is not None:
            assert node.trace == sorted(node.trace), "I1"
            found = list(matrix(bench, run)[agent.id].values())
            over = node.status in OVER
            assert not over or found == [one.value for one in node.steps], "I6"
