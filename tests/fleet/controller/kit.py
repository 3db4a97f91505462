"""A controller without processes: its parts over the bus in memory and a SQLite file, and light agents."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from tests.fleet.databases import sqlite_address

from saltern.fleet.broker.streams import make_streams
from saltern.fleet.bus.memory import MemoryHub
from saltern.fleet.bus.ports import Bus, BusError, Message
from saltern.fleet.controller.parts import PartOptions, Parts
from saltern.fleet.identity.token import JoinToken, TokenRecord
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.envelope import Issuer, Trust, certify, verify
from saltern.fleet.protocol.ids import encode_id, new_nonce
from saltern.fleet.protocol.keys import SealingKey, SigningKey
from saltern.fleet.protocol.message import Message as AnyMessage
from saltern.fleet.protocol.messages import (
    Alive,
    Certificate,
    Control,
    Facts,
    Job,
    Return,
    SyncAnswer,
    SyncRequest,
)
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.fleet.store import job_queries, systems
from saltern.fleet.store.database import Database, open_database
from saltern.fleet.store.events import read_events
from saltern.targeting.match import Subject, matches

FLEET = "fleet-1"
SEALING = SealingKey(b"7" * 32)  # of every system
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


class Clock:
    """Time that a test can move."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


class Bench(Parts):
    """The parts of one controller, over the bus in memory."""

    def __init__(self, database: Database, hub: MemoryHub, name: str = "c1", *, lease: float = 15.0) -> None:
        self.memory = hub
        self.database = database
        self.clock = Clock()
        self.revoked = NoGate()
        options = PartOptions(name=name, roots=(ROOT.public,), unsent=0.0, lease=lease)
        bus = hub.connect(f"_ctl-{name}")
        super().__init__(
            bus, database, new_issuer(name), lambda _calls: self.revoked, None, options, now=self.clock
        )

    async def start(self) -> None:
        await make_streams(self.bus)
        await super().start()

    async def index(self) -> int:
        """Store all that is in the streams now."""
        total = 0
        for indexer in self.indexers:
            reader = await self.bus.reader(indexer.options)
            while number := await indexer.step(reader, wait=0.0):
                total += number
        await self.alarms.settle()
        return total

    async def keep_house(self, name: str) -> bool:
        """One round of a singleton; False if another controller holds its lease."""
        return await self.singletons[name].step()

    def statuses(self, jid: str) -> dict[str, str]:
        with self.database.read() as connection:
            return {row.system: row.status for row in job_queries.targets(connection, jid)}

    def tags(self) -> list[str]:
        with self.database.read() as connection:
            return [event.tag for event in read_events(connection, 0, limit=5000).events]


class LightAgent:
    """Takes jobs, answers pokes, and does nothing else by itself."""

    def __init__(self, bus: Bus, id: str, grains: dict[str, object], trust: Trust = TRUST) -> None:
        self.bus = bus
        self.trust = trust
        self.id = id
        self.grains = grains
        self.jobs: list[Job] = []
        self.orders: list[Control] = []
        self.running: list[str] = []
        self.instance = "i"
        self.starts = 1
        self.ahead = 0.0  # of its clock

    def now(self) -> float:
        return time.time() + self.ahead

    async def start(self) -> None:
        await self.bus.subscribe(SUBJECTS["job"].of(id=self.id), self._on_job)
        await self.bus.subscribe(SUBJECTS["job-all"].of(), self._on_job)
        await self.bus.subscribe(SUBJECTS["control"].of(id=self.id), self._on_control)

    def means_me(self, expression: str) -> bool:
        return matches(Subject(id=self.id, grains=self.grains), expression)

    async def _on_job(self, message: Message) -> None:
        verified = verify(message.data, self.trust, me=self.id, now=self.now(), matches=self.means_me)
        self.jobs.append(verified.of(Job))
        await self.on_job(self.jobs[-1])

    async def on_job(self, job: Job) -> None:
        """What is done with a job: nothing."""

    async def is_answered(self) -> bool:
        """True if a controller answers a sync."""
        try:
            await self.sync()
        except BusError:
            return False
        return True

    async def _on_control(self, message: Message) -> None:
        if message.data:
            verified = verify(message.data, self.trust, me=self.id, now=self.now())
            self.orders.append(verified.of(Control))
        else:
            await self.bus.publish(message.reply, encode(Alive(instance=self.instance, running=self.running)))

    async def give(self, jid: str, status: str = "returned", *, part: int = 0, **more: Any) -> None:
        """Return a job, as an agent does: into the stream."""
        one = Return(jid=jid, status=status, part=part, **{"body": b"true", "size": 4, **more})  # type: ignore[arg-type]
        subject = SUBJECTS["return"].of(id=self.id, jid=jid)
        await self.bus.store(subject, encode(one), id=f"{self.id}.{jid}.{part}")

    async def send(self, kind: str, message: AnyMessage, **fields: str) -> None:
        """Anything else that goes into a stream, or to who listens."""
        row = SUBJECTS[kind]
        put = self.bus.store if row.stream else self.bus.publish
        await put(row.of(id=self.id, **fields), encode(message))

    async def sync(self, *, timeout: float = 5.0, **more: Any) -> SyncAnswer:
        request = SyncRequest(nonce=new_nonce(), instance=self.instance, starts=self.starts, **more)
        reply = await self.bus.request(SUBJECTS["sync"].of(id=self.id), encode(request), timeout=timeout)
        return verify(reply.data, self.trust, me=self.id, now=self.now(), nonce=request.nonce).of(SyncAnswer)

    def read_jobs(self, answer: SyncAnswer) -> list[str]:
        """The jobs of a sync answer; each must be for this system."""
        found = [verify(one.encode(), self.trust, me=self.id, now=self.now()) for one in answer.jobs]
        return [one.of(Job).jid for one in found]


def let_in(database: Database, id: str, grains: dict[str, object] | None = None) -> None:
    """An accepted system with these facts."""
    with database.write() as connection:
        key = id.encode().ljust(32, b".")
        one = systems.Applicant(id=id, key=key, sealing_key=SEALING.public, fingerprint="f")
        systems.enrol(connection, one, 1.0, accept_by="t")
        if grains is not None:
            digest = f"{abs(hash(str(grains))):064x}"
            systems.store_facts(connection, id, Facts(nonce="n", digest=digest, grains=grains), 1.0)


def new_address(folder: Path) -> str:
    """The address of a database that has all tables."""
    return sqlite_address(folder / "fleet.db")


def new_database(folder: Path) -> Database:
    return open_database(new_address(folder))


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


async def light_agent(
    bench: Bench, id: str, grains: dict[str, object] | None = None, *, join: bool = True
) -> LightAgent:
    """A system that has joined, connected."""
    if join:
        let_in(bench.database, id, grains or {})
    agent = LightAgent(bench.memory.connect(encode_id(id)), id, grains or {})
    await agent.start()
    return agent
