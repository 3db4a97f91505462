"""A small fleet for tests: a real broker with real credentials, a desk that lets agents in, and agents."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace
from tests.fleet.harness import QUICK, free_port

from saltern.fleet.broker.config import BrokerSettings
from saltern.fleet.broker.embedded import EmbeddedBroker
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.connection import Connection, Credential
from saltern.fleet.identity.desk import Alarm, EnrolDesk
from saltern.fleet.identity.enrolment import Decision, Standing, System
from saltern.fleet.identity.keys import AgentKeys, new_keys
from saltern.fleet.identity.membership import (
    KeyCredential,
    Membership,
    ask_to_join,
    become_member,
    client_tls,
    joiner_credential,
)
from saltern.fleet.identity.token import JoinToken, TokenRecord
from saltern.fleet.protocol.envelope import Issuer, certify
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.messages import Certificate, EnrolAnswer

FLEET = "fleet-1"


class MemoryRegistry:
    """What the controller's database will be."""

    def __init__(self) -> None:
        self.systems: dict[tuple[str, str], System] = {}
        self.tokens: dict[str, TokenRecord] = {}

    async def same_key(self, id: str, key: bytes, sealing_key: bytes) -> System | None:
        for system in self.systems.values():
            if (system.id, system.key, system.sealing_key) == (id, key, sealing_key):
                return system
        return None

    async def holder(self, id: str, token: str = "") -> System | None:
        found = (one for one in self.systems.values() if one.id == id and one.standing is Standing.ACCEPTED)
        return next(found, None)

    async def token(self, id: str) -> TokenRecord | None:
        return self.tokens.get(id)

    async def record(self, decision: Decision) -> bool:
        assert decision.system is not None
        if decision.consume:
            token = self.tokens[decision.consume]
            if token.uses < 1:
                return False
            self.tokens[token.id] = replace(token, uses=token.uses - 1)
        self.systems[decision.system.id, decision.system.fingerprint] = decision.system
        return True

    def set(self, id: str, fingerprint: str, standing: Standing) -> None:
        self.systems[id, fingerprint] = replace(self.systems[id, fingerprint], standing=standing)


class Fleet:
    """The controller's side."""

    def __init__(self, folder: Path, *, life: float = 7 * 86_400.0) -> None:
        self.root = SigningKey.new()
        self.controller_key = SigningKey.new()
        self.registry = MemoryRegistry()
        self.alarms: list[Alarm] = []
        self.crashes: list[str] = []
        self.life = life
        self.broker = EmbeddedBroker(
            str(folder), FLEET, BrokerSettings(port=free_port()), crashed=self.crashes.append
        )
        now = time.time()
        self.issuer = Issuer(
            fleet=FLEET,
            key=self.controller_key,
            certificate=certify(
                self.root,
                Certificate(
                    fleet=FLEET,
                    serial="c1-1",
                    name="c1",
                    key=self.controller_key.public,
                    issued=now,
                    expires=now + 86_400,
                ),
            ),
        )

    async def start(self) -> None:
        await self.broker.start()
        self.bus = await self.broker.connect_controller("c1")
        self.desk = EnrolDesk(
            self.bus,
            self.registry,
            self.broker.authority.mint,
            self.issuer,
            now=time.time,
            alarm=self.alarms.append,
            life=self.life,
        )
        await self.desk.start()

    async def stop(self) -> None:
        await self.bus.close()
        await self.broker.stop()

    def token(self, *, life: float = 3600.0, uses: int = 1) -> JoinToken:
        token, record = self.broker.new_token((self.root.public,), life=life, uses=uses)
        self.registry.tokens[record.id] = record
        return token

    async def connect(self, name: str, credential: Credential, **more: object) -> NatsBus:
        """A bus with any credential, as an attacker would have it, too."""
        settings = Connection(
            servers=self.broker.servers[-1:],
            name=name,
            credential=credential,
            tls=client_tls(self.broker.ca),
            backoff=QUICK,
        )
        for key, value in more.items():
            settings = replace(settings, **{key: value})
        return await NatsBus.connect(settings, wait=5)

    async def ask(
        self, id: str, token: JoinToken | None = None, keys: AgentKeys | None = None, now: float | None = None
    ) -> tuple[EnrolAnswer, AgentKeys, JoinToken]:
        """What a new machine does with a token."""
        token, keys = token or self.token(), keys or new_keys()
        name, credential = joiner_credential(token)
        bus = await self.connect(name, credential)
        try:
            answer = await ask_to_join(
                bus, token, id, keys, now=time.time() if now is None else now, facts={"os": "Debian"}
            )
        finally:
            await bus.close()
        return answer, keys, token

    async def agent(self, id: str) -> Agent:
        """A machine that has joined, connected."""
        answer, keys, token = await self.ask(id)
        assert answer.state == "accepted", answer
        agent = Agent(self, become_member(token, id, keys, answer.credential), keys)
        await agent.connect()
        return agent


class Agent:
    """The agent's side."""

    def __init__(self, fleet: Fleet, member: Membership, keys: AgentKeys) -> None:
        self.fleet = fleet
        self.member = member
        self.keys = keys
        self.credential = KeyCredential(member.credential, keys.signing)

    async def connect(self) -> None:
        self.bus = await self.fleet.connect(self.member.name, self.credential)


@asynccontextmanager
async def running_fleet(folder: Path, *, life: float = 7 * 86_400.0) -> AsyncIterator[Fleet]:
    fleet = Fleet(folder, life=life)
    await fleet.start()
    try:
        yield fleet
    finally:
        await fleet.stop()
