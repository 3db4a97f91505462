"""A small controller for tests of agents: it signs jobs, answers syncs, and keeps what agents send."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.fleet.harness import until
from tests.fleet.kit import Fleet, MemoryRegistry

from saltern.fleet.broker.streams import make_streams
from saltern.fleet.bus.ports import Bus, BusError, ReaderOptions
from saltern.fleet.bus.service import Services
from saltern.fleet.identity.mint import Mint
from saltern.fleet.identity.token import write_token
from saltern.fleet.protocol.codec import Body, decode, unpack_body
from saltern.fleet.protocol.envelope import Issuer
from saltern.fleet.protocol.ids import new_jid
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.message import Message
from saltern.fleet.protocol.messages import (
    Audience,
    Away,
    Confirmed,
    Control,
    Facts,
    Job,
    Progress,
    Received,
    Records,
    Return,
    Signed,
    SyncAnswer,
    SyncRequest,
)
from saltern.fleet.protocol.subjects import SUBJECTS
from saltern.fleet.protocol.verbs import verb_of

DAY = 86_400.0


class Controller:
    """The controller's side of the protocol, over any bus."""

    def __init__(self, bus: Bus, issuer: Issuer, now: Callable[[], float] = time.time) -> None:
        self.bus = bus
        self.issuer = issuer
        self.now = now
        self.confirms = True
        self.registry = MemoryRegistry()
        self.mint: Mint | None = None  # of a real broker
        self.root = SigningKey.new()
        self.syncs: list[tuple[str, SyncRequest]] = []
        self.missed: dict[str, dict[str, bytes]] = {}
        self.cancelled: list[str] = []
        self.refused: dict[str, str] = {}
        self.withdrawn: list[Signed] = []
        self.facts: dict[str, Facts] = {}
        self.parts: dict[tuple[str, str], dict[int, Return]] = {}
        self.arrived: list[tuple[str, Return]] = []
        self.progress: list[tuple[str, Progress]] = []
        self.records: list[tuple[str, Records]] = []
        self.away: list[tuple[str, Away]] = []
        self._reading: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        services = Services(self.bus, self.issuer, now=self.now)
        await services.serve("sync", self._on_sync)
        await services.serve("facts", self._on_facts)
        await self.bus.subscribe(SUBJECTS["progress"].wild(), self._on_progress)
        self.read()

    def read(self) -> None:
        """Read what agents store; again after the streams were made anew."""
        for stream in ("RETURNS", "EVENTS"):
            self._reading.append(asyncio.create_task(self._read(stream)))

    async def stop(self) -> None:
        for task in self._reading:
            task.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)

    async def _read(self, stream: str) -> None:
        """Read for ever, also from a stream that was lost and made again."""
        while True:
            try:
                reader = await self.bus.reader(ReaderOptions(stream=stream, name="test", ack_wait=1.0))
                while True:
                    found = await reader.fetch(100, 0.2)
                    for one in found:
                        self._on_stored(one.kept.subject, one.kept.data)
                    await reader.done(found)
            except BusError:
                await asyncio.sleep(0.05)

    def _on_stored(self, subject: str, data: bytes) -> None:
        if fields := SUBJECTS["return"].parse(subject):
            part = decode(Return, data)
            self.parts.setdefault((fields["id"], part.jid), {})[part.part] = part
            self.arrived.append((fields["id"], part))
        elif fields := SUBJECTS["records"].parse(subject):
            self.records.append((fields["id"], decode(Records, data)))
        elif fields := SUBJECTS["away"].parse(subject):
            self.away.append((fields["id"], decode(Away, data)))

    async def _on_progress(self, message: Any) -> None:
        fields = SUBJECTS["progress"].parse(message.subject)
        assert fields is not None
        self.progress.append((fields["id"], decode(Progress, message.data)))

    async def _on_facts(self, id: str, facts: Facts) -> Message:
        self.facts[id] = facts
        return Received(digest=facts.digest)

    async def _on_sync(self, id: str, request: SyncRequest) -> Message:
        self.syncs.append((id, request))
        held = {*request.running, *request.unconfirmed, *(jid for one, jid in self.parts if one == id)}
        known = [jid for jid in request.unconfirmed if (id, jid) in self.parts]
        return SyncAnswer(
            jobs=[data.decode() for jid, data in self.missed.get(id, {}).items() if jid not in held],
            cancelled=self.cancelled,
            confirmed=[Confirmed(jid=jid, returned=True) for jid in known if self.confirms],
            refused=self.refused.get(id, ""),
            now=self.now(),
            withdrawn=self.withdrawn,
        )

    # -- what a test does with it ----------------------------------------------------------------

    def job(self, function: str, *args: object, **more: Any) -> Job:
        verb = verb_of(function, test=more.get("test", False))
        fields = {"changing": verb.changing, "on_interrupt": verb.on_interrupt, **more}
        return Job(jid=new_jid(self.now()), function=function, args=list(args), **fields)

    def sign(self, message: Message, *ids: str, life: float = DAY, issued: float | None = None) -> bytes:
        now = self.now() if issued is None else issued
        return self.issuer.issue(message, Audience(ids=list(ids)), now=now, life=life)

    async def send(self, id: str, function: str, *args: object, **more: Any) -> str:
        """A job to one agent; its jid."""
        job = self.job(function, *args, **more)
        await self.bus.publish(SUBJECTS["job"].of(id=id), self.sign(job, id))
        return job.jid

    async def order(self, id: str, action: Any, jid: str | None = None) -> None:
        data = self.sign(Control(action=action, jid=jid), id)
        await self.bus.publish(SUBJECTS["control"].of(id=id), data)

    async def returned(self, id: str, jid: str, timeout: float = 30.0) -> Return:
        """The first part of a return, when all are there."""

        def whole() -> bool:
            parts = self.parts.get((id, jid), {})
            return bool(parts) and len(parts) == next(iter(parts.values())).parts

        await until(whole, timeout)
        return self.parts[id, jid][0]

    def value(self, id: str, jid: str) -> Any:
        """The data of a return."""
        parts = self.parts[id, jid]
        first = parts[0]
        body = tuple(parts[number].body for number in range(first.parts))
        return unpack_body(Body(encoding=first.encoding, size=first.size, parts=body)) if first.size else None


async def real_controller(folder: Path, life: float = 7 * DAY) -> tuple[Fleet, Controller]:
    """A broker with real credentials, which live that long, and the stand-in beside it."""
    fleet = Fleet(folder, life=life)
    await fleet.start()
    await make_streams(fleet.bus)
    controller = Controller(fleet.bus, fleet.issuer)
    controller.registry, controller.root = fleet.registry, fleet.root
    controller.mint = fleet.broker.authority.mint
    await controller.start()
    return fleet, controller


class AgentProcess:
    """``saltern agent run`` below a directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.inside: tuple[str, ...] = ()  # a command that runs it in a namespace
        self.env: dict[str, str] = {}
        self.process: asyncio.subprocess.Process | None = None

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-P", "-m", "saltern", "agent", *words, "--directory", str(self.folder)]

    async def join(self, fleet: Fleet, id: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        command = self.command("join", "-", "--id", id)
        made = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        _, errors = await made.communicate(write_token(fleet.token()).encode())
        assert made.returncode == 0, errors.decode()

    async def start(self) -> None:
        with (self.folder / "stderr").open("ab") as log:
            command = [*self.inside, *self.command("run")]
            env = {**os.environ, **self.env}
            self.process = await asyncio.create_subprocess_exec(*command, stderr=log, stdout=log, env=env)

    async def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        await self.process.wait()

    async def stop(self) -> int:
        assert self.process is not None
        if self.process.returncode is None:
            (self.process.kill if self.inside else self.process.terminate)()
        return await self.process.wait()

    async def say(self, *words: str) -> tuple[int, str]:
        made = await asyncio.create_subprocess_exec(
            *self.command(*words),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ},
        )
        out, _ = await made.communicate()
        return made.returncode or 0, out.decode()

    @property
    def log(self) -> str:
        return (self.folder / "stderr").read_text()


@asynccontextmanager
async def one_agent(
    tmp_path: Path, id: str, life: float = 7 * DAY
) -> AsyncIterator[tuple[Controller, AgentProcess, Path]]:
    """A fleet of one: the controller's side, an agent that has synced, and the directory of its states."""
    fleet, controller = await real_controller(tmp_path / "controller", life)
    agent = AgentProcess(tmp_path / "agent")
    states = tmp_path / "states"
    states.mkdir()
    try:
        await agent.join(fleet, id)
        (agent.folder / "agent.yaml").write_text(f"file_roots: {{base: [{states}]}}\n")
        await agent.start()
        await until(lambda: controller.syncs)
        yield controller, agent, states
    finally:
        await agent.stop()
        await controller.stop()
        await fleet.stop()
        print(agent.log)
