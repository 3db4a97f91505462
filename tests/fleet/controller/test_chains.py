"""Runs of chains on a controller: written down, sent, heard of; with systems that do as nodes do."""

from __future__ import annotations

from tests.fleet.controller.chain_kit import leg_agent, legs, matrix, on_bench, order, rounds, start, status
from tests.fleet.controller.kit import Bench

from saltern.chains.statuses import Step


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
