"""The controller as a process: started, killed, stopped, backed up, put back."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.controller.processes import (
    ControllerProcess,
    all_returned,
    join,
    saltern,
    statuses,
    wait_for,
)
from tests.fleet.harness import free_port, run, until

from saltern.fleet.broker.config import BrokerSettings
from saltern.fleet.broker.embedded import EmbeddedBroker

pytestmark = pytest.mark.slow


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[ControllerProcess]:
    made = ControllerProcess(tmp_path / "c")
    yield made
    made.clean_up()


def token_of(controller: ControllerProcess, uses: int) -> str:
    return controller.client.tokens.make(uses=uses)


def test_a_controller_that_is_killed_during_a_job_loses_nothing(controller: ControllerProcess) -> None:
    async def scenario() -> None:
        await asyncio.to_thread(controller.start)
        token = token_of(controller, 5)
        agents = [await join(token, f"web{number}") for number in range(5)]
        for agent in agents[:3]:
            agent.hold = True
        jid = controller.client.jobs.submit("state.apply", "*")["jid"]
        await until(lambda: all(agent.jobs for agent in agents))
        controller.kill()
        assert not (await agents[0].is_answered())  # no controller, but the broker is there
        for agent in agents[:3]:
            await agent.finish()
        await asyncio.to_thread(controller.start)
        client = controller.client
        await asyncio.to_thread(wait_for, lambda: all_returned(client, jid))
        assert client.jobs.get(jid)["open"] == 0
        tags = [event["tag"] for event in client.events()]
        assert all(tags.count(f"salt/job/{jid}/ret/{agent.id}") == 1 for agent in agents)
        # The broker's disk is lost while nothing runs: streams are made anew, and agents come back.
        assert controller.stop() == 0
        wait_for(lambda: not os.path.exists(f"/proc/{controller.broker}"))
        shutil.rmtree(controller.folder / "controller/broker/streams")
        await asyncio.to_thread(controller.start)
        await asyncio.to_thread(wait_for, lambda: not client.jobs.submit("test.ping", "*", wait=None)["away"])
        again = client.jobs.submit("test.ping", "*")["jid"]
        await asyncio.to_thread(wait_for, lambda: all_returned(client, again))
        assert saltern("controller", "doctor", "--directory", str(controller.folder)).count("ok ") >= 5
        for agent in agents:
            await agent.bus.close()
        assert controller.stop() == 0

    run(scenario(), timeout=150)


def test_a_backup_that_is_put_back_is_completed_from_the_broker(controller: ControllerProcess) -> None:
    async def scenario() -> None:
        await asyncio.to_thread(controller.start)
        agent = await join(token_of(controller, 1), "web1")
        client, folder = controller.client, str(controller.folder)
        old = client.jobs.submit("test.ping", "*")["jid"]
        await asyncio.to_thread(wait_for, lambda: all_returned(client, old))
        file = str(controller.folder / "backup")
        await asyncio.to_thread(saltern, "controller", "backup", file, "--directory", folder)
        assert os.stat(file).st_mode & 0o077 == 0
        young = client.jobs.submit("test.ping", "web*")["jid"]
        await asyncio.to_thread(wait_for, lambda: all_returned(client, young))
        saltern("controller", "restore", file, "--directory", folder, code=1)  # it runs
        assert controller.stop() == 0
        await asyncio.to_thread(saltern, "controller", "restore", file, "--directory", folder)
        await asyncio.to_thread(controller.start)
        await asyncio.to_thread(wait_for, lambda: statuses(client, young) == {"web1": "returned"})
        assert statuses(client, old) == {"web1": "returned"}
        await asyncio.to_thread(wait_for, lambda: not client.jobs.submit("test.ping", "*", wait=None)["away"])
        await agent.bus.close()
        assert controller.stop() == 0

    run(scenario(), timeout=150)


def test_an_existing_nats_that_has_imported_the_account(
    tmp_path: Path, controller: ControllerProcess
) -> None:
    """The NATS is started by the test, with the keys that the controller has made."""

    async def scenario() -> None:
        folder = controller.folder / "controller/broker"
        nats = EmbeddedBroker(str(tmp_path / "nats"), "fleet-1", BrokerSettings(port=free_port()))
        url = nats.servers[-1]
        ca = tmp_path / "nats/tls/ca.pem"
        (controller.folder / "controller.yaml").write_text(f"fleet: fleet-1\nbus: {url}\nbus_ca: {ca}\n")
        controller.launch()  # it ends: nothing listens there yet, but its keys are made
        assert await asyncio.to_thread(controller.wait) == 1
        assert "fleet-broker-unfit" in controller.log.read_text()
        assert (folder / "account.jwt").stat().st_size > 100
        shutil.copy(folder / "keys/authority.json", tmp_path / "nats/keys/authority.json")
        nats = EmbeddedBroker(str(tmp_path / "nats"), "fleet-1", nats.settings)
        await nats.start()
        await asyncio.to_thread(controller.start)
        agent = await join(token_of(controller, 1), "web1")
        client = controller.client
        jid = client.jobs.submit("test.ping", "*")["jid"]
        await asyncio.to_thread(wait_for, lambda: all_returned(client, jid))
        assert await asyncio.to_thread(controller.stop) == 0
        assert nats.pid
        await agent.bus.close()
        await nats.stop()

    run(scenario(), timeout=150)


def test_a_controller_that_waits_for_others_can_be_stopped(tmp_path: Path) -> None:
    """One of three, alone: its broker waits for the two others."""
    routes = [f"127.0.0.1:{free_port()}" for _ in range(3)]
    port = int(routes[0].partition(":")[2])
    one = ControllerProcess(tmp_path / "c", f"cluster: {{port: {port}, routes: {routes}}}\n")
    try:
        one.launch()
        wait_for((tmp_path / "c/controller/broker/broker.pid").exists)
        broker = one.broker
        assert one.stop() == 0
        wait_for(lambda: not os.path.exists(f"/proc/{broker}"))
    finally:
        one.clean_up()
