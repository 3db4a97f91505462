"""How runs go through their systems, at a real controller: windows and durations, order, quorum, retries."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import json
from tests.fleet.controller.chain_kit import leg_agent, legs, on_bench, rounds, start, status
from tests.fleet.controller.kit import Bench
from tests.fleet.controller.test_chain_endurance import _window as set_window

from saltern.chains.statuses import Step
from saltern.fleet.controller.chains import views
from saltern.fleet.store import chain_gates, chain_runs

TIMED = """\
chain: timed
actions:
  - {id: a, command: 'true', expected: 20}
  - {id: b, command: 'true', expected: 60}
"""


def shown(bench: Bench, run: str) -> dict[str, Any]:
    with bench.database.read() as connection:
        found = views.show_run(connection, run)
    assert found is not None
    return found


@on_bench
async def test_51_what_does_not_fit_into_the_rest_of_a_window_waits_for_the_next(bench: Bench) -> None:
    agent = await leg_agent(bench, "web1")
    set_window(bench, "night", -60, 40)
    made = await start(bench, TIMED)
    await rounds(bench)
    (job,) = agent.jobs
    assert (job.kwargs["until"], 30 < job.kwargs["lease"] <= 40) == ("a", True)
    assert legs(bench, made.run) == {"web1": "waiting"}
    waits = shown(bench, made.run)["legs"][0]["waits_for"]
    assert waits.startswith("b takes about 60 seconds, and the window ends in ")
    set_window(bench, "night", -60, 400)
    await rounds(bench)
    assert (legs(bench, made.run), len(agent.jobs)) == ({"web1": "succeeded"}, 2)


@on_bench
async def test_51_what_an_action_took_before_is_what_it_is_expected_to_take(bench: Bench) -> None:
    agent = await leg_agent(bench, "web1")
    for _ in range(3):
        await start(bench)
        await rounds(bench)
    with bench.database.write() as connection:
        connection.exec_driver_sql("UPDATE chain_steps SET took = 500 WHERE action = 'b'")
    set_window(bench, "night", -60, 300)
    made = await start(bench)
    await rounds(bench)
    assert (agent.jobs[3].kwargs["until"], legs(bench, made.run)) == ("a", {"web1": "waiting"})


@on_bench
async def test_a_run_waits_until_enough_of_its_systems_are_connected(bench: Bench) -> None:
    for number in range(3):
        await leg_agent(bench, f"s{number}")
    bench.board.found([], ["s1", "s2"])
    made = await start(bench, rollout={"reachable": "60%"})
    await rounds(bench)
    assert status(bench, made.run) == "scheduled"
    assert shown(bench, made.run)["why"] == "1 of 3 systems are connected, and 2 must be; away: s1, s2"
    bench.board.heard("s1")
    await rounds(bench)
    assert legs(bench, made.run)["s0"] == "succeeded"


@on_bench
async def test_systems_that_fail_are_retried_without_an_operator(bench: Bench) -> None:
    agent = await leg_agent(bench, "s0", b=Step.FAILED)
    made = await start(bench, rollout={"retry": {"times": 1, "wait": 30}})
    await rounds(bench)
    assert (legs(bench, made.run), status(bench, made.run)) == ({"s0": "pending"}, "running")
    bench.clock.ahead = 31.0
    await rounds(bench)
    assert (legs(bench, made.run), status(bench, made.run)) == ({"s0": "succeeded"}, "succeeded")
    assert [job.kwargs["verb"] for job in agent.jobs] == ["run", "retry"]


@pytest.mark.parametrize(("otherwise", "ends"), [("reject", "cancelled"), ("approve", "succeeded")])
def test_50_a_gate_whose_time_is_over_is_what_was_said_of_it(otherwise: str, ends: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    @on_bench
    async def scenario(bench: Bench) -> None:
        await leg_agent(bench, "s0")
        made = await start(bench, rollout={"gate": {"life": 50, "otherwise": otherwise}})
        await rounds(bench)
        assert status(bench, made.run) == "awaiting approval"
        bench.clock.ahead = 51.0
        await rounds(bench)
        assert status(bench, made.run) == ends
        with bench.database.read() as connection:
            (gate,) = chain_gates.gate_rows(connection, made.run)
            happened = views.log(connection, made.run)
        assert gate["status"] == {"reject": "expired", "approve": "approved"}[otherwise]
        decided = [
            (row["what"], row["about"], row["detail"]) for row in happened if row["at"] == gate["decided"]
        ]
        assert decided[0] == (gate["status"], "run", "its time is over")

    scenario(tmp_path)


@on_bench
async def test_what_a_run_is_asked_for_is_kept_with_it(bench: Bench) -> None:
    await leg_agent(bench, "s0")
    asked = {"autonomy": "per_step", "outside_window": "fail", "order": "random"}
    made = await start(bench, rollout=asked)
    await rounds(bench, 12)
    with bench.database.read() as connection:
        row = chain_runs.run_row(connection, made.run)
    assert row is not None
    strategy = json.decode(row["strategy"])
    assert (strategy["autonomy"], strategy["outside_window"]) == ("per_step", "fail")
    assert status(bench, made.run) == "succeeded"
