"""Three brokers: any one of them may go, and nothing that was acknowledged is lost."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from pathlib import Path

import msgspec
from msgspec.structs import replace
from tests.fleet.harness import QUICK, free_port, run, until
from tests.fleet.kit import FLEET

from saltern.fleet.broker.config import BrokerSettings, Cluster
from saltern.fleet.broker.embedded import EmbeddedBroker
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.connection import Connection
from saltern.fleet.bus.ports import BusError
from saltern.fleet.identity.keys import new_keys
from saltern.fleet.identity.membership import KeyCredential, client_tls
from saltern.fleet.identity.revocation import revoke

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


def fourth(base: Path, three: list[EmbeddedBroker]) -> EmbeddedBroker:
    """One that takes the place of the third, in the same cluster."""
    port = free_port()
    was = three[0].settings.cluster
    assert was is not None
    for name in ("keys", "tls"):
        shutil.copytree(base / "b0" / name, base / "b3" / name)
    cluster = replace(was, port=port, routes=(*was.routes[:2], f"127.0.0.1:{port}"), replicas=3)
    settings = BrokerSettings(port=free_port(), server_name="saltern-3", cluster=cluster)
    return EmbeddedBroker(str(base / "b3"), FLEET, settings)


async def regroup(some: list[EmbeddedBroker], routes: tuple[str, ...]) -> None:
    """As controllers do it when one has come, or gone."""
    for broker in some:
        was = broker.settings.cluster
        assert was is not None
        cluster = replace(was, routes=routes, replicas=len(routes))
        broker.settings = replace(broker.settings, cluster=cluster)
        broker.read_again()


async def copies(broker: EmbeddedBroker, stream: str) -> set[str]:
    """The brokers that keep a stream; none while they elect the one that answers."""
    bus = await broker.connect_controller("look")
    try:
        found = msgspec.json.decode(await bus.api(f"STREAM.INFO.{stream}")).get("cluster", {})
        return {found.get("leader"), *(one["name"] for one in found.get("replicas", []))}
    except BusError:
        return set()
    finally:
        await bus.close()


async def drop(broker: EmbeddedBroker, server: str) -> None:
    """As a controller does it: again and again while the brokers elect a leader."""
    while True:
        try:
            return await broker.system.drop_peer(server)
        except BusError:
            await asyncio.sleep(0.1)


async def kept_by(broker: EmbeddedBroker, stream: str, *names: str) -> None:
    """Until these brokers keep a stream: they move its copies after they have answered."""
    while await copies(broker, stream) != set(names):
        await asyncio.sleep(0.1)


def test_one_of_three_is_dropped_for_good_and_a_fourth_gets_its_copies(tmp_path: Path) -> None:
    async def scenario() -> None:
        three = brokers(tmp_path)
        await asyncio.gather(*(broker.start() for broker in three))
        await three[0].prepare_streams(wait=60)
        two, gone = three[:2], three[2]
        await gone.stop()
        routes = three[0].settings.cluster.routes  # type: ignore[union-attr]

        await regroup(two, routes[:2])
        await drop(two[0], "saltern-2")
        await drop(two[1], "saltern-2")  # the other one does so, too, and it is no error
        for broker in two:
            await broker.prepare_streams(wait=60)
        await kept_by(two[0], "RETURNS", "saltern-0", "saltern-1")

        new = fourth(tmp_path, three)
        await new.start()
        await regroup(two, new.settings.cluster.routes)  # type: ignore[union-attr]
        for broker in (*two, new):
            await broker.prepare_streams(wait=60)
        await kept_by(two[0], "RETURNS", "saltern-0", "saltern-1", "saltern-3")
        await asyncio.gather(*(broker.stop() for broker in (*two, new)))

    run(scenario(), timeout=180)


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
        await three[1].set_revoked(revoke({}, keys.signing.public, time.time()))
        await until(lambda: not agent.connected)
        await agent.close()
        await controller.close()
        await asyncio.gather(*(broker.stop() for broker in three))

    run(scenario(), timeout=180)
