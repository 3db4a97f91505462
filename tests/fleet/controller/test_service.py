"""What people ask of a controller: targets, jobs, cancellation, following."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import update
from tests.fleet.controller.kit import JOE, let_in, light_agent, running_bench
from tests.fleet.harness import run, until

from saltern.fleet.broker.presence import ClientEvent
from saltern.fleet.controller.service import Submission
from saltern.fleet.protocol.notices import Happened
from saltern.fleet.store import audit, job_queries
from saltern.fleet.store.tables import SYSTEMS
from saltern.language.diagnostics import OperationError


def code(problem: pytest.ExceptionInfo[OperationError]) -> str:
    return problem.value.diagnostics[0].code


def test_a_job_is_written_down_sent_and_who_is_away_is_known_at_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            there = [await light_agent(bench, f"web{number}", {"os": "Debian"}) for number in (1, 2)]
            let_in(bench.database, "web3", {"os": "Debian"})
            let_in(bench.database, "db1", {"os": "Fedora"})
            ask = Submission(function="test.ping", target="G@os:Debian")
            done = await bench.fleet.submit(JOE, ask)
            assert done.expected == ["web1", "web2", "web3"]
            assert list(done.away) == ["web3"]
            assert bench.statuses(done.jid) == {"web1": "sent", "web2": "sent", "web3": "queued"}
            await until(lambda: all(agent.jobs for agent in there))
            assert {agent.jobs[0].jid for agent in there} == {done.jid}
            with bench.database.read() as connection:
                assert [one.action for one in audit.page(connection)] == ["job.submit"]

    run(scenario())


def test_wait_0_leaves_out_who_is_away(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            await light_agent(bench, "web1")
            let_in(bench.database, "web2")
            done = await bench.fleet.submit(JOE, Submission(function="test.ping", target="*", wait=0))
            assert done.expected == ["web1"]
            with pytest.raises(OperationError) as problem:
                await bench.fleet.submit(JOE, Submission(function="test.ping", target="web2", wait=0))
            assert code(problem) == "fleet-all-away"
            assert "the only system that the target matches is away: 'web2'" in str(problem.value)

    run(scenario())


@pytest.mark.parametrize(
    ("state", "fix"), [("revoked", "restore"), ("rejected", "accept"), ("pending", "accept")]
)
def test_a_system_that_is_not_let_in_is_named_with_what_lets_it_in(
    tmp_path: Path, state: str, fix: str
) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            let_in(bench.database, "web1")
            with bench.database.write() as connection:
                connection.execute(update(SYSTEMS).values(state=state))
            with pytest.raises(OperationError) as problem:
                await bench.fleet.submit(JOE, Submission(function="test.ping", target="web1"))
            found = problem.value.diagnostics[0]
            assert (found.what, found.fix) == (
                f"'web1' takes no jobs: its key is {state}",
                f"saltern fleet keys {fix} web1",
            )

    run(scenario())


def test_the_same_client_token_is_the_same_job_even_at_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "web1")
            ask = Submission(function="test.ping", target="*", client_token="t1")
            done = await asyncio.gather(*(bench.fleet.submit(JOE, ask) for _ in range(5)))
            assert len({one.jid for one in done}) == 1
            assert sum(not one.known for one in done) == 1
            assert all(one.expected == ["web1"] for one in done)
            assert len(agent.jobs) == 1

    run(scenario())


def test_a_broadcast_is_one_message_that_agents_match_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saltern.fleet.controller.submission.SEPARATELY", 1)

    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agents = [await light_agent(bench, f"web{number}") for number in range(3)]
            let_in(bench.database, "db1")
            await bench.registry.set_group("joe", "web", "web*")
            done = await bench.fleet.submit(JOE, Submission(function="test.ping", target="@web"))
            assert done.expected == ["web0", "web1", "web2"]
            await until(lambda: all(agent.jobs for agent in agents))
            assert (await bench.bus.stream_state("JOBS")).messages == 1

    run(scenario())


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("nothing*", "fleet-target-empty"),
        ("@none", "fleet-target"),
        ("( web1", "fleet-target"),
        ("I@role:web", "fleet-target"),
        ("N@none", "fleet-target"),
        (" ", "fleet-submission"),
    ],
)
def test_a_target_that_means_nothing_is_refused_before_anything_is_written(
    tmp_path: Path, target: str, expected: str
) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            let_in(bench.database, "web1")
            with pytest.raises(OperationError) as problem:
                await bench.fleet.submit(JOE, Submission(function="test.ping", target=target))
            assert code(problem) == expected
            with bench.database.read() as connection:
                assert job_queries.jobs(connection) == []

    run(scenario())


def test_who_is_not_permitted_leaves_no_trace(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "web1")
            asked: list[tuple[str, ...]] = []

            async def refuse(systems: tuple[str, ...]) -> str:
                asked.append(systems)
                raise PermissionError

            with pytest.raises(PermissionError):
                await bench.fleet.submit(JOE, Submission(function="test.ping", target="*"), permit=refuse)
            assert asked == [("web1",)]
            assert not agent.jobs
            with bench.database.read() as connection:
                assert job_queries.jobs(connection) == []

    run(scenario())


def test_a_broker_that_is_gone_leaves_the_job_in_the_queue(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            await light_agent(bench, "web1")
            bench.memory.stop()
            done = await bench.fleet.submit(JOE, Submission(function="test.ping", target="*"))
            assert list(done.away) == ["web1"]
            assert bench.statuses(done.jid) == {"web1": "queued"}

    run(scenario())


def test_cancel_answers_for_each_system(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "web1")
            let_in(bench.database, "web2")
            done = await bench.fleet.submit(JOE, Submission(function="state.apply", target="*"))
            assert await bench.fleet.cancel(JOE, done.jid) == {"web1": "asked", "web2": "cancelled"}
            assert bench.statuses(done.jid) == {"web1": "sent", "web2": "cancelled"}
            await until(lambda: agent.orders)
            assert await bench.fleet.cancel(JOE, done.jid, hard=True) == {"web1": "asked"}
            await until(lambda: len(agent.orders) == 2)
            assert [order.action for order in agent.orders] == ["cancel", "kill"]
            with pytest.raises(OperationError) as problem:
                await bench.fleet.cancel(JOE, "none")
            assert code(problem) == "fleet-job-unknown"

    run(scenario())


def test_a_reader_that_comes_later_continues_from_its_cursor(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            await light_agent(bench, "web1")
            done = await bench.fleet.submit(JOE, Submission(function="test.ping", target="*"))
            reader = bench.fleet.follow(None, after=done.cursor)
            first = await anext(reader)
            assert isinstance(first, Happened)
            assert (first.tag, first.data["minions"]) == (f"salt/job/{done.jid}/new", ["web1"])
            await bench.registry.revoke("joe", "web1")
            second = await anext(reader)
            assert isinstance(second, Happened)
            assert (second.tag, second.number) == ("salt/key", first.number + 1)
            await reader.aclose()  # type: ignore[attr-defined]

    run(scenario())


def test_a_system_that_has_just_answered_is_not_poked_again_unless_it_has_left(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_bench(tmp_path) as bench:
            agent = await light_agent(bench, "web1")
            board = bench.board
            board.on_client(_connection("c1", connected=True))
            ask = Submission(function="test.ping", target="*")
            assert not (await bench.fleet.submit(JOE, ask)).away
            await agent.bus.close()  # it hangs: the broker has not noticed yet
            assert not (await bench.fleet.submit(JOE, ask)).away
            assert (await bench.fleet.poke("*")).away == {"web1"}  # it is asked now
            board.on_client(_connection("c1", connected=False))
            assert list((await bench.fleet.submit(JOE, ask)).away) == ["web1"]

    run(scenario())


def _connection(name: str, *, connected: bool) -> ClientEvent:
    return ClientEvent(name="", system="web1", label="", host="", connection=name, connected=connected)
