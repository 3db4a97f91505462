"""A running API over a database of its own, and data to ask for."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import uvloop
from argon2 import PasswordHasher
from msgspec import convert
from msgspec.json import encode
from tests.fleet.controller.kit import FLEET, Bench, LightAgent, NoGate, let_in
from tests.fleet.databases import sqlite_database

from saltern.fleet.access.passwords import Passwords
from saltern.fleet.access.service import Access
from saltern.fleet.api.app import Site, make_app
from saltern.fleet.api.server import ApiServer, Listen
from saltern.fleet.bus.memory import MemoryHub
from saltern.fleet.chains.estimate import estimate
from saltern.fleet.chains.model import StepPlan
from saltern.fleet.chains.rollout import GateAsk, Rollout, make_run
from saltern.fleet.chains.saved_plan import PlannedSystem, SavedPlan
from saltern.fleet.client.client import Client
from saltern.fleet.controller.chains import gates, records
from saltern.fleet.controller.chains.plan_seal import Seal
from saltern.fleet.files.keeper import Roots, TreeKeeper
from saltern.fleet.identity.token import JoinToken, TokenRecord, new_secret, proof_key
from saltern.fleet.protocol.envelope import Issuer, certify
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.messages import Certificate, Facts, Job, Return
from saltern.fleet.store import audit, chain_runs, events, jobs, systems
from saltern.fleet.store.chain_outbox import put_orders
from saltern.fleet.store.chain_outputs import put_outputs
from saltern.fleet.store.chain_plans import add_plan
from saltern.fleet.store.chains import StoredChain, StoredVersion, add_chain, add_version
from saltern.fleet.store.database import Database
from saltern.fleet.store.events import NewEvent
from saltern.fleet.store.jobs import NewJob
from saltern.fleet.store.systems import Applicant

T = TypeVar("T")
DIGEST = "ab" * 32


def make_database(folder: Path) -> Database:
    return sqlite_database(folder / "fleet.db")


@cache
def quick_passwords() -> Passwords:
    return Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


def add_system(database: Database, id_: str, *, accept: bool = True) -> None:
    applicant = Applicant(id=id_, key=b"k" * 32, sealing_key=b"s" * 32, fingerprint=f"SHA256:{id_}")
    with database.write() as connection:
        systems.enrol(connection, applicant, 1.0, accept_by="t" if accept else "")
        if accept:
            systems.store_facts(
                connection, id_, Facts(nonce="n", digest=DIGEST, grains={"os": "Debian"}), 2.0
            )


def add_job(database: Database, jid: str, ids: tuple[str, ...], *, now: float = 10.0, **more: object) -> None:
    fields: dict[str, object] = {"jid": jid, "function": "state.apply", "args": ["web"], "user": "joe"}
    job = Job(**{**fields, **more})  # type: ignore[arg-type]
    with database.write() as connection:
        jobs.create_job(connection, NewJob(job=job, target="*", systems=ids, expires=now + 100), now)


def add_return(database: Database, jid: str, system: str, body: bytes = b'{"a": 1}') -> None:
    one = Return(jid=jid, status="returned", started=11.0, ended=12.0, changed=1, body=body)
    with database.write() as connection:
        jobs.store_returns(connection, [(system, one)], 13.0)


def add_events(database: Database, *tags: str) -> None:
    with database.write() as connection:
        events.store_events(connection, [NewEvent(tag=tag, data={"n": 1}, at=5.0) for tag in tags])


def add_audit(database: Database, number: int) -> None:
    with database.write() as connection:
        for one in range(number):
            audit.append(connection, "joe", "job.submit", {"n": one}, 1.0 + one)


async def end_tasks() -> None:
    """As ``asyncio.run`` ends: nothing is left waiting."""
    loop = asyncio.get_running_loop()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


@contextmanager
def running_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop in a thread, of the kind that a controller has."""
    loop = uvloop.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        asyncio.run_coroutine_threadsafe(end_tasks(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


class TokenGate(NoGate):
    """A broker that makes join tokens."""

    def new_token(
        self, roots: tuple[bytes, ...], *, life: float, uses: int, site: str
    ) -> tuple[JoinToken, TokenRecord]:
        id_, secret = new_secret()
        expires = time.time() + life
        token = JoinToken(
            fleet=FLEET,
            servers=("tls://127.0.0.1:1",),
            roots=roots,
            account="A",
            issuer="I",
            id=id_,
            secret=secret,
            credential="",
            expires=expires,
        )
        record = TokenRecord(id=id_, key=proof_key(secret), expires=expires, uses=uses, site=site)
        return token, record


class Running:
    """A server, and where it is."""

    def __init__(self, bench: Bench, server: ApiServer, loop: asyncio.AbstractEventLoop) -> None:
        self.bench = bench
        self.database = bench.calls.database
        self.server = server
        self.loop = loop
        self.socket = server.listen.socket
        self.clients: list[Client] = []

    def client(self, token: str = "") -> Client:
        """Another client, which is closed in the end."""
        self.clients.append(Client(self.socket, token))
        return self.clients[-1]

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something in the loop of the server."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def agent(self, id_: str, **more: object) -> LightAgent:
        """A system that is let in and connected; ``more`` are facts of it."""
        grains = {"os": "Debian", **more}
        let_in(self.database, id_, grains)
        made = LightAgent(self.bench.memory.connect(id_), id_, grains)
        self.run(made.start())
        return made


@contextmanager
def running_api(
    folder: Path,
    *,
    prefix: str = "",
    access: Access | None = None,
    ca: str = "a CA",
    site: Site | None = None,
    **listen: object,
) -> Iterator[Running]:
    database = make_database(folder)
    where: dict[str, Any] = {"socket": str(folder / "controller.sock"), **listen}

    async def start() -> tuple[Bench, ApiServer]:
        bench = Bench(database, MemoryHub())
        bench.gate = bench.registry._gate = TokenGate()
        await bench.start()
        (folder / "files").mkdir(exist_ok=True)
        (folder / "files" / "top.sls").write_text("base: {}\n")
        roots = Roots(roots={"base": [str(folder / "files")]}, directory=str(folder / "trees"))
        trees = TreeKeeper(bench.bus, bench.calls, roots, name="c1", now=time.time)
        await trees.start()
        bench.fleet.trees = trees
        known = access or Access(database, passwords=quick_passwords())
        app = make_app(bench.fleet, known, prefix=prefix, ca=ca, site=site)
        server = ApiServer(app, Listen(**where))
        await server.start()
        return bench, server

    async def stop() -> None:
        await server.stop()
        await bench.stop()

    with running_loop() as loop:
        bench, server = asyncio.run_coroutine_threadsafe(start(), loop).result(30)
        try:
            running = Running(bench, server, loop)
            yield running
        finally:
            for client in running.clients:
                client.close()
            asyncio.run_coroutine_threadsafe(stop(), loop).result(30)
            database.close()


def add_chain_run(database: Database, name: str, system: str) -> None:
    """A run of a chain with one action on one system."""
    rollout = convert({"gate": {"needed": 1}}, Rollout)
    plan = (StepPlan(id="a", kind="command"),)
    run = make_run(name, "c", {system: plan}, rollout, now=10.0)
    (leg,) = run.legs.values()
    text = "chain: c\nactions:\n  - {id: a, command: 'true'}\n"
    with database.write() as connection:
        add_chain(connection, StoredChain(id=name, name=name, created=10.0, created_by="joe"))
        version = StoredVersion(chain=name, number=1, text=text, sha256="", author="joe", created=10.0)
        add_version(connection, version)
        fixed = {"id": name, "chain": name, "version": 1, "target": "*", "strategy": encode(run.strategy)}
        row = {**records.run_values(run), **fixed, "plan_sha256": "", "author": "joe", "created": 10.0}
        waves = [records.wave_values(name, wave) for wave in run.waves]
        chain_runs.add_run(
            connection, row, waves, [records.new_leg(name, leg, 0, "")], [records.new_step(leg, 0)]
        )
        gates.add(connection, name, {"run": GateAsk()}, "", 10.0)
        order = {"run": name, "leg": leg.id, "order": 1, "verb": "run", "created": 10.0}
        put_orders(connection, [order])
        printed = {"leg": leg.id, "step": 0, "attempt": 1, "stream": "stdout"}
        put_outputs(connection, [{**printed, "size": 6, "cut": False, "data": b"hello\n"}])


def add_chain_plan(database: Database, name: str, system: str) -> None:
    """A sealed plan of the chain of ``add_chain_run``: one system was planned, and one could not be."""
    diff = {"diff": "--- old\n+++ new\n-was <b>\n+is now\n"}
    state = {"id": "motd", "kind": "change", "tag": "file_|-motd_|-motd_|-managed", "changes": diff}
    step = {
        "action": "a",
        "kind": "command",
        "would": "change",
        "comment": "",
        "reboot": "",
        "states": [state],
    }
    plan = SavedPlan(
        chain=name,
        version=1,
        version_sha256="",
        follows=True,
        target="*",
        pinned=False,
        inputs={"a": 1},
        rollout={},
        environment="base",
        tree="",
        systems={system: PlannedSystem(sha256="", steps=[step], facts={"os": ["Debian"], "role": []})},
        unplanned={"away1": "away"},
    )
    certificate = Certificate(fleet="f", serial="1", name="c1", key=bytes(32), issued=1.0, expires=2.0)
    issuer = Issuer(fleet="f", key=SigningKey.new(), certificate=certify(SigningKey.new(), certificate))
    history = estimate({"a": [1.0, 2.0]}, {system: ["a"]}, [[system]], [0], 1)
    row = {"id": name, "chain": name, "version": 1, "target": "*", "author": "joe", "created": 10.0}
    with database.write() as connection:
        add_plan(connection, {**row, **Seal(issuer, ()).seal_plan(plan, history)})
