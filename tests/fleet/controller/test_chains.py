"""Runs of chains on a controller: written down, sent, heard of; with systems that do as nodes do."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select
from tests.fleet.controller.chain_kit import leg_agent, legs, matrix, on_bench, order, rounds, start, status
from tests.fleet.controller.kit import JOE, Bench

from saltern.chains.statuses import Step
from saltern.fleet.controller.chains import views
from saltern.fleet.controller.chains.gates import Ballot, Voter
from saltern.fleet.store.chain_tables import (
    CHAIN_ATTEMPTS,
    CHAIN_GATES,
    CHAIN_LEGS,
    CHAIN_OUTBOX,
    CHAIN_OUTPUTS,
    CHAIN_RUNS,
    CHAIN_STEPS,
    CHAIN_VERSIONS,
    CHAIN_WAVES,
)
from saltern.fleet.store.retention import LIMITS, Limit, prune
from saltern.language.diagnostics import OperationError


@on_bench
async def test_each_system_gets_its_whole_leg_and_its_results_are_in_the_database(bench: Bench) -> None:
    one, two = await leg_agent(bench, "web1"), await leg_agent(bench, "web2", b=Step.FAILED)
    made = await start(bench)
    await rounds(bench)
    assert legs(bench, made.run) == {"web1": "succeeded", "web2": "failed"}
    assert matrix(bench, made.run) == {
        "web1": {"a": "succeeded", "b": "succeeded"},
        "web2": {"a": "succeeded", "b": "failed"},
    }
    assert status(bench, made.run) == "partial"
    assert [job.jid for job in one.jobs] == [job.jid for job in two.jobs]  # one job for all of them


@on_bench
async def test_the_matrix_has_the_status_of_each_step_of_each_system(bench: Bench) -> None:
    """Plans differ between systems; what is read from the letters of legs is what the rows of steps say."""
    text = "chain: m\nactions:\n" + "".join(
        f"  - {{id: {name}, command: 'true'{more}}}\n"
        for name, more in (("a", ", targets: [w1]"), ("b", ""), ("c", ", targets: [w2, w3]"), ("d", ""))
    )
    await leg_agent(bench, "w1", b=Step.FAILED)
    await leg_agent(bench, "w2")
    (await leg_agent(bench, "w3")).holds = True
    made = await start(bench, text)
    await rounds(bench)
    with bench.database.read() as connection:
        found = views.matrix(connection, made.run)
    assert found is not None
    assert found["actions"] == ["a", "b", "c", "d"]
    rows = {row["system"]: dict(zip(found["actions"], row["cells"], strict=True)) for row in found["rows"]}
    kept = matrix(bench, made.run)
    assert {name: {key: value for key, value in row.items() if value} for name, row in rows.items()} == kept
    assert rows["w1"] == {"a": "succeeded", "b": "failed", "c": "", "d": "not run"}


@on_bench
async def test_a_failed_leg_is_retried_in_the_same_run(bench: Bench) -> None:
    await leg_agent(bench, "web1")
    two = await leg_agent(bench, "web2", b=Step.FAILED)
    made = await start(bench)
    await rounds(bench)
    said = await order(bench, made.run, "retry")
    assert said == {"run": "partial → running", "web2": "ordered"}
    await rounds(bench)
    assert status(bench, made.run) == "succeeded"
    assert [job.kwargs["verb"] for job in two.jobs] == ["run", "retry"]


@on_bench
async def test_50_a_leg_waits_before_a_step_until_others_have_approved_it(bench: Bench) -> None:
    await leg_agent(bench, "web1")
    gates = [{"action": "b", "needed": 2, "of": "ops", "per": "leg"}]
    made = await start(bench, rollout={"step_gates": gates})
    await rounds(bench)
    assert matrix(bench, made.run) == {"web1": {"a": "succeeded", "b": "not run"}}
    with bench.database.read() as connection:
        shown = views.show_run(connection, made.run)
    assert shown is not None and shown["why"] == "waits for approval of gate 'web1 step b'"
    ballot = Ballot(approves=True, plan_sha256=made.plan_sha256)
    for voter, why in (
        (Voter(JOE.name, ("ops",)), "cannot approve"),
        (Voter("bob"), "only members of 'ops'"),
    ):
        with pytest.raises(OperationError, match=why):
            await bench.fleet.chains.vote(voter, made.run, "web1 step b", ballot)
    for name, after in (("ann", "open"), ("bob", "approved")):
        assert await bench.fleet.chains.vote(Voter(name, ("ops",)), made.run, "web1 step b", ballot) == after
    await rounds(bench)
    assert (status(bench, made.run), bench.tags().count(f"saltern/chain/{made.run}/gate/web1-step-b")) == (
        "succeeded",
        2,
    )


@on_bench
async def test_58_old_runs_are_removed_with_all_that_belongs_to_them_and_nothing_else(bench: Bench) -> None:
    agent = await leg_agent(bench, "web1")
    old = (await start(bench)).run
    await rounds(bench)
    agent.holds = True
    running = (await start(bench)).run
    await rounds(bench)
    limits = {**LIMITS, "chains": Limit(days=1, rows=1000)}
    with bench.database.write() as connection:
        assert prune(connection, limits, bench.clock() + 3600)["chains"] == 0
        assert prune(connection, limits, bench.clock() + 2 * 86_400)["chains"] == 1
    tables = (CHAIN_LEGS, CHAIN_WAVES, CHAIN_OUTBOX, CHAIN_GATES)
    with bench.database.read() as connection:
        for table in tables:
            count = select(func.count()).select_from(table).where(table.c.run == old)
            assert connection.scalar(count) == 0, table.name
        for table in (CHAIN_STEPS, CHAIN_ATTEMPTS, CHAIN_OUTPUTS):
            count = select(func.count()).select_from(table).where(table.c.leg.startswith(old))
            assert connection.scalar(count) == 0, table.name
        assert list(connection.scalars(select(CHAIN_RUNS.c.id))) == [running]
        assert connection.scalar(select(func.count()).select_from(CHAIN_VERSIONS)) == 1
    await agent.let_go()
    await rounds(bench)
    assert legs(bench, running) == {"web1": "succeeded"}
