"""The service ``pillar``: each system gets its own, sealed, and no other."""

from __future__ import annotations

import base64
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.fleet.controller.kit import FLEET, KEY, ROOT, TRUST
from tests.fleet.databases import sqlite_database
from tests.fleet.harness import run

from saltern.fleet.agent.ask import Asker
from saltern.fleet.agent.clock import FleetClock
from saltern.fleet.bus.memory import MemoryHub
from saltern.fleet.bus.ports import Message as Arrived
from saltern.fleet.bus.service import Services
from saltern.fleet.controller.calls import Calls
from saltern.fleet.pillar.agent import AgentPillar, NoPillar, answer_pillar
from saltern.fleet.pillar.desk import PillarDesk, PillarOptions
from saltern.fleet.protocol.envelope import Issuer, certify
from saltern.fleet.protocol.keys import SealingKey, SigningKey
from saltern.fleet.protocol.messages import Certificate, Facts, PillarAnswer, PillarRequest
from saltern.fleet.store.database import Database
from saltern.fleet.store.systems import store_facts
from saltern.fleet.store.tables import SYSTEMS


def issuer() -> Issuer:
    now = time.time()
    certificate = Certificate(
        fleet=FLEET, serial="1", name="c1", key=KEY.public, issued=now - 10, expires=now + 86400
    )
    return Issuer(fleet=FLEET, key=KEY, certificate=certify(ROOT, certificate))


class Site:
    """A controller with the service, and systems that ask it."""

    def __init__(self, place: Path, database: Database) -> None:
        self.place = place
        self.database = database
        self.hub = MemoryHub()
        self.keys = {name: SealingKey.new() for name in ("web1", "db1")}
        self.calls = Calls(database)
        self.time = 1000.0
        roots = {"base": [str(place / "pillar")]}
        self.desk = PillarDesk(
            self.calls,
            PillarOptions(pillar_roots=roots, file_roots={"base": [str(place / "salt")]}),
            fleet=FLEET,
            state=str(place / "digests"),
            now=lambda: self.time,
            roots=lambda found: {env: list(several) for env, several in found.items()},
        )
        (place / "pillar").mkdir()
        self.write("top", "base: {'web*': [web], 'db*': [db]}\n")
        self.write("web", "whose: web\nos: {{ grains.os }}\n")
        self.write("db", "whose: db\n")
        for name, key in self.keys.items():
            self.add(name, key)

    def write(self, name: str, text: str) -> None:
        (self.place / "pillar" / f"{name}.sls").write_text(text)

    def add(self, name: str, key: SealingKey, state: str = "accepted") -> None:
        row = {"id": name, "state": state, "key": SigningKey.new().public, "sealing_key": key.public}
        with self.database.write() as connection:
            connection.execute(SYSTEMS.insert().values(**row, fingerprint=name, first_seen=0.0))
        self.facts(name, os="Debian")

    def facts(self, name: str, **grains: Any) -> None:
        facts = Facts(nonce="x", digest=msgspec.json.encode(grains).hex().ljust(64, "0")[:64], grains=grains)
        with self.database.write() as connection:
            store_facts(connection, name, facts, 0.0)

    def agent(self, name: str, key: SealingKey | None = None) -> AgentPillar:
        ask = Asker(self.hub.connect(name), FleetClock(), id=name, trust=lambda: TRUST)
        return AgentPillar(
            ask,
            key or self.keys[name],
            fleet=FLEET,
            system=name,
            directory=str(self.place / f"a-{name}"),
            wait=0.0,
        )


@asynccontextmanager
async def site(place: Path) -> AsyncIterator[Site]:
    database = sqlite_database(place / "fleet.db")
    made = Site(place, database)
    services = Services(made.hub.connect("c1"), issuer(), now=time.time)
    await services.serve("pillar", made.desk.answer)
    try:
        yield made
    finally:
        await made.desk.close()
        for bus in list(made.hub.buses):
            await bus.close()
        made.calls.close()
        database.close()


async def pillar(agent: AgentPillar, **more: Any) -> Any:
    data, _ = await agent.fetch(more.get("environment", ""), more.get("overrides", {}), 0.0)
    return msgspec.msgpack.decode(data, strict=False)


def test_each_system_gets_its_own_pillar_from_its_own_facts(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            assert await pillar(made.agent("web1")) == {"whose": "web", "os": "Debian"}
            assert await pillar(made.agent("db1")) == {"whose": "db"}
            made.facts("web1", os="Rocky")
            assert await pillar(made.agent("web1")) == {"whose": "web", "os": "Rocky"}
            made.write("web", "whose: changed\n")
            assert await pillar(made.agent("web1")) == {"whose": "changed"}
            assert (await pillar(made.agent("web1"), overrides={"x": 1}))["x"] == 1

    run(scenario())


def test_what_is_sealed_for_one_system_no_other_key_opens(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            stolen = made.agent("web1", made.keys["db1"])
            with pytest.raises(NoPillar, match="cannot be opened"):
                await pillar(stolen)
            answer = await made.desk.answer("web1", PillarRequest(nonce="n", environment=""))
            assert b"whose" not in answer.sealed
            boxes = [kept.answer.sealed for kept in made.desk._kept.values()]
            assert boxes and not any(b"whose" in box for box in boxes)
            other = made.agent("db1")
            moved = other._open
            with pytest.raises(NoPillar):
                moved(answer.sealed, PillarRequest(nonce="n", environment=""))

    run(scenario())


def test_the_subject_says_whose_pillar_it_is(tmp_path: Path) -> None:
    """A request cannot name another system, and its answer cannot be sent elsewhere."""

    async def scenario() -> None:
        async with site(tmp_path) as made:
            bus = made.hub.connect("db1")
            heard: list[Arrived] = []

            async def hear(message: Arrived) -> None:
                heard.append(message)

            await bus.subscribe("dn.web1.job", hear)
            await bus.publish("up.db1.svc.pillar", b'{"nonce":"n"}', reply="dn.web1.job")
            await bus.publish("up.db1.svc.pillar", b'{"nonce":"n","id":"web1"}', reply="_INBOX.web1.x")
            assert await pillar(made.agent("db1")) == {"whose": "db"}
            assert heard == []

    run(scenario())


@pytest.mark.parametrize("state", ["pending", "rejected", "revoked"])
def test_a_system_that_is_not_accepted_gets_nothing(tmp_path: Path, state: str) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            made.add("new1", SealingKey.new(), state)
            answer = await made.desk.answer("new1", PillarRequest(nonce="n", environment=""))
            assert answer == PillarAnswer(problem="the key of this system is not accepted")
            assert (await made.desk.answer("none", PillarRequest(nonce="n", environment=""))).problem

    run(scenario())


def test_a_pillar_is_compiled_once_while_nothing_changes_and_sent_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            append = f"salt['file.append']('{tmp_path}/calls', 'x')"
            made.write("web", f"count: {{{{ {append} and 1 }}}}\n")
            agent = made.agent("web1")
            for _ in range(3):
                await pillar(agent)
            assert (tmp_path / "calls").read_text().count("x") == 1
            first = await made.desk.answer("web1", PillarRequest(nonce="n", environment=""))
            again = await made.desk.answer(
                "web1", PillarRequest(nonce="n", environment="", digest=first.digest)
            )
            assert first.sealed and again == PillarAnswer(digest=first.digest)
            made.time += 61
            await pillar(agent)
            assert len(made.desk._kept) == 1
            assert (tmp_path / "calls").read_text().count("x") == 2

    run(scenario())


def test_without_a_controller_the_last_pillar_counts_and_that_is_reported(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            agent = made.agent("web1")
            await pillar(agent)
            files = list((tmp_path / "a-web1").iterdir())
            assert files and all(b"whose" not in one.read_bytes() for one in files)
            made.hub.stop()
            data, [warning] = await agent.fetch("", {}, 600.0)
            assert msgspec.msgpack.decode(data)["whose"] == "web"
            assert "no controller answers" in warning and "10 minutes ago" in warning
            with pytest.raises(NoPillar, match="no controller answers"):
                await agent.fetch("", {"given": 1}, 0.0)  # never compiled for that
            made.hub.start()

    run(scenario())


def test_a_worker_gets_it_over_the_socket_or_the_reason(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            agent = made.agent("web1")
            answer = await answer_pillar(agent, {"environment": "", "overrides": ""}, 0.0)
            assert msgspec.msgpack.decode(base64.b64decode(answer["pillar"]))["whose"] == "web"
            made.write("web", "a: {{ nothing.here }}\n")
            answer = await answer_pillar(agent, {}, 0.0)
            assert f"{tmp_path}/pillar/web.sls:1" in answer["problem"]
            assert (await answer_pillar(agent, {"overrides": "%%%"}, 0.0))["problem"]

    run(scenario())


def test_a_pillar_that_does_not_fit_into_a_message_is_a_problem_that_says_so(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with site(tmp_path) as made:
            made.write("web", "#!py\nimport os\ndef run():\n  return {'x': os.urandom(600000).hex()}\n")
            with pytest.raises(NoPillar, match="can be sent"):
                await pillar(made.agent("web1"))

    run(scenario())
