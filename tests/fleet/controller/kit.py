"""A controller without processes: its parts over the bus in memory and a SQLite file, and light agents."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from saltern.fleet.broker.streams import make_streams
from saltern.fleet.bus.memory import MemoryBus, MemoryHub
from saltern.fleet.bus.poke import Poker
from saltern.fleet.bus.ports import Message
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.dispatch import Dispatcher
from saltern.fleet.controller.hub import Hub
from saltern.fleet.controller.inventory import Inventory
from saltern.fleet.controller.presence import PresenceBoard
from saltern.fleet.controller.registry import Registry
from saltern.fleet.controller.service import Fleet
from saltern.fleet.identity.token import JoinToken, TokenRecord
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.envelope import Issuer, Trust, certify, verify
from saltern.fleet.protocol.ids import encode_id
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.messages import Alive, Certificate, Control, Facts, Job
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.fleet.store import systems
from saltern.fleet.store.database import Database, open_database
from saltern.fleet.store.migrate import migrate
from saltern.targeting.match import Subject, matches

FLEET = "fleet-1"
ROOT, KEY = SigningKey.new(), SigningKey.new()
TRUST = Trust(fleet=FLEET, roots=(ROOT.public,))


class Person(Struct, frozen=True):
    name: str = "joe"


JOE = Person()


class NoGate:
    """A broker that lets everyone in, and remembers who was sent away."""

    def __init__(self) -> None:
        self.revoked: list[bytes] = []

    async def revoke(self, key: bytes) -> None:
        self.revoked.append(key)

    async def restore(self, key: bytes) -> None:
        self.revoked.remove(key)

    def new_token(
        self, roots: tuple[bytes, ...], *, life: float, uses: int, site: str
    ) -> tuple[JoinToken, TokenRecord]:
        raise NotImplementedError


def new_issuer(name: str = "c1") -> Issuer:
    now = time.time()
    certificate = Certificate(
        fleet=FLEET, serial=f"{name}-1", name=name, key=KEY.public, issued=now, expires=now + 86_400
    )
    return Issuer(fleet=FLEET, key=KEY, certificate=certify(ROOT, certificate))


class Bench:
    """The parts of one controller."""

    def __init__(self, database: Database, hub: MemoryHub, name: str = "c1") -> None:
        self.hub = hub
        self.bus = hub.connect(f"_ctl-{name}")
        self.calls = Calls(database)
        self.issuer = new_issuer(name)
        self.board = PresenceBoard(time.time)
        self.poker = Poker(self.bus, name)
        self.inventory = Inventory(self.calls)
        self.dispatcher = Dispatcher(self.bus, self.issuer, self.poker, self.board, self.calls, now=time.time)
        self.gate = NoGate()
        self.notices = Hub(self.calls)
        self.registry = Registry(
            self.calls, self.gate, (ROOT.public,), now=time.time, changed=self.notices.wake
        )
        self.fleet = Fleet(
            self.calls, self.inventory, self.dispatcher, self.registry, self.notices, now=time.time
        )

    async def start(self) -> None:
        await make_streams(self.bus)
        await self.poker.start()

    async def stop(self) -> None:
        self.notices.close()
        await self.bus.close()
        self.calls.close()


class LightAgent:
    """Takes jobs, answers pokes, and does nothing else by itself."""

    def __init__(self, bus: MemoryBus, id: str, grains: dict[str, object]) -> None:
        self.bus = bus
        self.id = id
        self.grains = grains
        self.jobs: list[Job] = []
        self.orders: list[Control] = []

    async def start(self) -> None:
        await self.bus.subscribe(SUBJECTS["job"].of(id=self.id), self._on_job)
        await self.bus.subscribe(SUBJECTS["job-all"].of(), self._on_job)
        await self.bus.subscribe(SUBJECTS["control"].of(id=self.id), self._on_control)

    def means_me(self, expression: str) -> bool:
        return matches(Subject(id=self.id, grains=self.grains), expression)

    async def _on_job(self, message: Message) -> None:
        verified = verify(message.data, TRUST, me=self.id, now=time.time(), matches=self.means_me)
        self.jobs.append(verified.of(Job))

    async def _on_control(self, message: Message) -> None:
        if message.data:
            verified = verify(message.data, TRUST, me=self.id, now=time.time())
            self.orders.append(verified.of(Control))
        else:
            await self.bus.publish(message.reply, encode(Alive(instance="i", starts=1)))


def let_in(database: Database, id: str, grains: dict[str, object] | None = None) -> None:
    """An accepted system with these facts."""
    with database.write() as connection:
        key = id.encode().ljust(32, b".")
        one = systems.Applicant(id=id, key=key, sealing_key=bytes(32), fingerprint="f")
        systems.enrol(connection, one, 1.0, accept_by="t")
        if grains is not None:
            digest = f"{abs(hash(str(grains))):064x}"
            systems.store_facts(connection, id, Facts(nonce="n", digest=digest, grains=grains), 1.0)


def new_database(folder: Path) -> Database:
    database = open_database(f"sqlite:///{folder}/fleet.db")
    migrate(database)
    return database


@asynccontextmanager
async def running_bench(folder: Path) -> AsyncIterator[Bench]:
    database = new_database(folder)
    bench = Bench(database, MemoryHub())
    await bench.start()
    try:
        yield bench
    finally:
        await bench.stop()
        database.close()


async def light_agent(bench: Bench, id: str, grains: dict[str, object] | None = None) -> LightAgent:
    """A system that has joined, connected."""
    let_in(bench.calls.database, id, grains or {})
    agent = LightAgent(bench.hub.connect(encode_id(id)), id, grains or {})
    await agent.start()
    return agent
