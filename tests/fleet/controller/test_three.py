"""Three controllers with a broker each over one PostgreSQL: any of them may go in the middle of a job."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.controller.processes import ControllerProcess, all_returned, join, saltern, wait_for
from tests.fleet.harness import run, until
from tests.postgres_server import Server, running_server

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture
def three(tmp_path: Path, server: Server) -> Iterator[list[ControllerProcess]]:
    server.psql("CREATE DATABASE fleet")
    address = f"postgresql://postgres@/fleet?host={server.place}&port={server.port}"
    made = [
        ControllerProcess(tmp_path / name, f"name: {name}\ndatabase: {address}\n")
        for name in ("c1", "c2", "c3")
    ]
    yield made
    for one in made:
        one.clean_up()


@pytest.mark.skipif(
    not os.environ.get("CHAOS_SECONDS"),
    reason="runs with make chaos: after a lost broker some returns are stored late, which is open",
)
def test_one_of_three_is_killed_during_a_job(three: list[ControllerProcess]) -> None:
    async def scenario() -> None:
        first = three[0]
        await asyncio.to_thread(first.start)
        for other in three[1:]:
            said = saltern("controller", "invite", other.folder.name, "--directory", str(first.folder))
            token = said.split()[-1]
            saltern("controller", "join", token, "--directory", str(other.folder))
            saltern("controller", "join", token, "--directory", str(other.folder), code=1)  # used up
        assert await asyncio.to_thread(first.stop) == 0
        for one in three:
            one.launch()
        for one in three:
            await asyncio.to_thread(one.wait_ready, int(one is first))
        token = three[1].client.tokens.make(uses=6)
        agents = [await join(token, f"web{number}") for number in range(6)]
        for agent in agents:
            agent.hold = True
        jid = first.client.jobs.submit("state.apply", "*")["jid"]
        await until(lambda: all(agent.jobs for agent in agents), timeout=30)
        first.kill()
        first.clean_up()  # with its broker
        for agent in agents:
            await agent.finish()
        client = three[2].client
        await asyncio.to_thread(wait_for, lambda: all_returned(client, jid))
        tags = [event["tag"] for event in client.events()]
        assert all(tags.count(f"salt/job/{jid}/ret/{agent.id}") == 1 for agent in agents)
        again = three[1].client.jobs.submit("test.ping", "*")["jid"]
        await asyncio.to_thread(wait_for, lambda: all_returned(client, again))
        for agent in agents:
            await agent.bus.close()

    run(scenario(), timeout=280)
