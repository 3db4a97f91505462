"""Three brokers: any one of them may go, and nothing that was acknowledged is lost."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from pathlib import Path

from tests.fleet.harness import QUICK, free_port, run, until
from tests.fleet.kit import FLEET

from saltern.fleet.broker.config import BrokerSettings, Cluster
from saltern.fleet.broker.embedded import EmbeddedBroker
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.nats import Connection
from saltern.fleet.bus.ports import BusError
from saltern.fleet.identity.keys import new_keys
from saltern.fleet.identity.membership import KeyCredential, client_tls

NUMBER = 3


def brokers(base: Path) -> list[EmbeddedBroker]:
    """Three with the same keys and the same CA, as controllers that have joined the first have them."""
    ports = [free_port() for _ in range(NUMBER)]
    routes = tuple(f"127.0.0.1:{port}" for port in ports)
    made: list[EmbeddedBroker] = []
    for number, port in enumerate(ports):
        folder = base / f"b{number}"
        if made:
            for name in ("keys", "tls"):
                shutil.copytree(base / "b0" / name, folder / name)
        settings = BrokerSettings(
            port=free_port(),
            server_name=f"saltern-{number}",
            cluster=Cluster(name="fleet", port=port, routes=routes),
        )
        made.append(EmbeddedBroker(str(folder), FLEET, settings))
    return made


async def stored(bus: NatsBus, number: int) -> None:
    """As an agent's spool does it: until it is acknowledged."""
    while True:
        try:
            await bus.store("up.web1.ret.j", b"%d" % number, id=str(number), timeout=2)
            return
        except BusError:
            await asyncio.sleep(0.1)


def test_one_of_three_is_killed_and_every_return_is_there_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        three = brokers(tmp_path)
        await asyncio.gather(*(broker.start() for broker in three))
        await three[0].prepare_streams(wait=60)
        keys = new_keys()
        jwt = three[0].authority.mint.agent("web1", keys.signing.public, now=time.time())
        agent = await NatsBus.connect(
            Connection(
                servers=tuple(broker.servers[-1] for broker in three),
                name="web1",
                credential=KeyCredential(jwt, keys.signing),
                tls=client_tls(three[0].ca),
                backoff=QUICK,
            )
        )
        for number in range(40):
            if number == 15:
                os.kill(three[0].pid, signal.SIGKILL)
            await stored(agent, number)
        controller = await three[1].connect_controller("c2")
        assert (await controller.stream_state("RETURNS")).messages == 40
        await three[1].revoke(keys.signing.public)
        await until(lambda: not agent.connected)
        await agent.close()
        await controller.close()
        await asyncio.gather(*(broker.stop() for broker in three))

    run(scenario(), timeout=180)
