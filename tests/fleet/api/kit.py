"""A running API over a database of its own, and data to ask for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

from saltern.fleet.access.local import LocalAccess
from saltern.fleet.api.app import make_app
from saltern.fleet.api.server import ApiServer, Listen
from saltern.fleet.protocol.messages import Facts, Job, Return
from saltern.fleet.protocol.notices import Happened, JobEnded, Notice, StatusChanged
from saltern.fleet.store import audit, events, jobs, systems
from saltern.fleet.store.database import Database, open_database
from saltern.fleet.store.events import NewEvent
from saltern.fleet.store.jobs import NewJob
from saltern.fleet.store.migrate import migrate
from saltern.fleet.store.systems import Applicant

DIGEST = "ab" * 32


class StoredFleet:
    """A fleet that is only its database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def resolve(self, target: str) -> list[str]:
        with self.database.read() as connection:
            return [one.id for one in systems.systems(connection, "accepted") if target in ("*", one.id)]

    async def follow(self, jid: str | None, *, after: int | None = None) -> AsyncIterator[Notice]:
        cursor = after or 0
        while True:
            with self.database.read() as connection:
                page = events.read_events(connection, cursor)
            cursor = page.cursor
            for one in page.events:
                if jid is None:
                    yield Happened(tag=one.tag, data=one.data, number=one.number)
                elif one.tag.startswith(f"salt/job/{jid}/ret/"):
                    yield StatusChanged(
                        jid=jid, system=one.tag.split("/")[4], status="returned", number=one.number
                    )
                elif one.tag == f"saltern/job/{jid}/ended":
                    yield JobEnded(jid=jid, number=one.number)
            await asyncio.sleep(0.01)


def make_database(folder: Path) -> Database:
    database = open_database(f"sqlite:///{folder / 'fleet.db'}")
    migrate(database)
    return database


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


@contextmanager
def running_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop in a thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


class Running:
    """A server, and where it is."""

    def __init__(self, database: Database, server: ApiServer, loop: asyncio.AbstractEventLoop) -> None:
        self.database = database
        self.server = server
        self.loop = loop
        self.socket = server.listen.socket


@contextmanager
def running_api(folder: Path, *, prefix: str = "", **listen: object) -> Iterator[Running]:
    database = make_database(folder)
    with running_loop() as loop:

        async def start() -> ApiServer:
            app = make_app(StoredFleet(database), LocalAccess(), prefix=prefix)
            where = {"socket": str(folder / "controller.sock"), **listen}
            server = ApiServer(app, Listen(**where))  # type: ignore[arg-type]
            await server.start()
            return server

        server = asyncio.run_coroutine_threadsafe(start(), loop).result(30)
        try:
            yield Running(database, server, loop)
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result(30)
            database.close()
