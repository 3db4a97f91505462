"""Systems that a controller waits for: as rows of its database, over rounds and orders."""

from __future__ import annotations

from typing import Any

from tests.fleet.controller.chain_kit import LegAgent, leg_agent, legs, on_bench, order, rounds, start, status
from tests.fleet.controller.kit import Bench

from saltern.fleet.controller.chains import views
from saltern.fleet.controller.chains.restores import doubt_legs
from saltern.fleet.store import chain_runs

REBOOTS = "chain: boots\nactions:\n  - {id: a, command: 'true'}\n  - {id: b, reboot: {}}\n"


async def goes_down(bench: Bench, agent: LegAgent, **more: Any) -> None:
    """It says that it reboots, and is gone."""
    (job,) = agent.waiting
    agent.node(job).work()
    report = {**agent.report(agent.node(job)), "status": "rebooting", "down_in": 30.0, "back_in": 0.0}
    bench.chain_keeper.on_progress(job.jid, agent.id, {**report, **more})
    await rounds(bench)
    bench.board.found([], [agent.id])
    await rounds(bench)


async def one_down(bench: Bench, **rollout: Any) -> tuple[LegAgent, str]:
    agent = await leg_agent(bench, "s0")
    agent.holds = True
    made = await start(bench, REBOOTS, rollout=rollout)
    await rounds(bench)
    return agent, made.run


@on_bench
async def test_a_system_that_is_not_back_in_time_expires_and_its_late_result_corrects(bench: Bench) -> None:
    agent, run = await one_down(bench)
    await goes_down(bench, agent, back_in=100.0)
    bench.clock.ahead = 120.0
    await rounds(bench)
    assert legs(bench, run) == {"s0": "rebooting"}
    bench.clock.ahead = 140.0
    await rounds(bench)
    assert (legs(bench, run), status(bench, run)) == ({"s0": "expired"}, "expired")
    bench.board.heard("s0")
    await agent.let_go()
    await rounds(bench)
    assert (legs(bench, run), status(bench, run)) == ({"s0": "succeeded"}, "succeeded")


@on_bench
async def test_how_long_its_reboots_took_is_how_long_it_is_waited_for(bench: Bench) -> None:
    agent = await leg_agent(bench, "s0")
    for _ in range(3):
        await start(bench, REBOOTS)
        await rounds(bench)
    with bench.database.write() as connection:
        connection.exec_driver_sql("UPDATE chain_steps SET took = 300 WHERE kind = 'reboot'")
    agent.holds = True
    made = await start(bench, REBOOTS)
    await rounds(bench)
    await goes_down(bench, agent)
    with bench.database.read() as connection:
        leg = views.leg(connection, made.run, "s0")
    assert leg is not None and round(leg["back_by"] - bench.clock()) in range(920, 931)


@on_bench
async def test_one_that_is_given_up_is_no_longer_waited_for(bench: Bench) -> None:
    agent, run = await one_down(bench)
    assert await order(bench, run, "unlock", systems=("s0",)) == {
        "s0": "nothing to do: its system is connected; cancel ends it"
    }
    await goes_down(bench, agent)
    assert (await order(bench, run, "unlock", systems=("s0",)))["s0"] == "expired"
    assert status(bench, run) == "expired"


@on_bench
async def test_a_system_that_was_put_back_to_yesterday_waits_for_an_operator(bench: Bench) -> None:
    agent, run = await one_down(bench)
    (job,) = agent.waiting
    bench.chain_keeper.on_progress(job.jid, "s0", {**agent.report(agent.node(job)), "seq": 40})
    await rounds(bench)
    with bench.database.write() as connection:
        assert doubt_legs(connection, "s0", bench.clock()) == [run]
    await rounds(bench)
    assert (legs(bench, run), status(bench, run)) == ({"s0": "indeterminate"}, "failed")
    with bench.database.read() as connection:
        (leg,) = chain_runs.leg_rows(connection, run)
    assert "restored to an earlier state" in leg["waits_for"]
    agent.holds = False
    await order(bench, run, "retry")
    await rounds(bench)
    assert (legs(bench, run), status(bench, run)) == ({"s0": "succeeded"}, "succeeded")
