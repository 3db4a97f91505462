"""How a controller says that it is well, and the numbers that Prometheus reads."""

from __future__ import annotations

from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families
from tests.fleet.controller.kit import JOE, Bench, light_agent, running_bench
from tests.fleet.harness import run

from saltern.fleet.controller.service import Submission


async def numbers(bench: Bench) -> dict[str, float]:
    text = (await bench.health.metrics()).decode()
    return {
        one.name + "".join(one.labels.values()): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def test_what_happened_is_in_the_numbers(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "web1")
            await bench.look_around()
            done = await bench.fleet.submit(JOE, Submission(function="test.ping", target="*"))
            before = await numbers(bench)
            assert (before["saltern_jobs_open"], before["saltern_systems_online"]) == (1, 1)
            assert before["saltern_systemsaccepted"] == 1
            await agent.give(done.jid)
            await agent.give("20260101T000000-x")
            await agent.sync()
            await bench.index()
            after = await numbers(bench)
            assert after["saltern_jobs_open"] == 0
            assert after["saltern_syncs_total"] == 1
            assert after["saltern_returns_stored_total"] == 2
            assert after["saltern_refused_totalforeign-job"] == 1
            assert after["saltern_stream_messagesRETURNS"] == 2

    run(scenario())


def test_a_broker_that_is_gone_is_named(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            assert await bench.health.problems() == {}
            bench.memory.stop()
            assert (await bench.health.problems()).keys() == {"broker"}
            assert (await numbers(bench))["saltern_broker_connected"] == 0

    run(scenario())


def test_a_certificate_that_ends_soon_is_a_warning(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            assert bench.health.warnings == []
            bench.health.expires = bench.clock() + 3 * 86_400
            assert "ends in 3 days" in bench.health.warnings[0]

    run(scenario())
