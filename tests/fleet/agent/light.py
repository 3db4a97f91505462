"""Agents without processes: on a bus in memory, with a runner that answers at once."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from pathlib import Path

import msgspec
from tests.fleet.agent.standin import Controller

from saltern.fleet.agent.agent import Agent
from saltern.fleet.agent.recovery import Trace
from saltern.fleet.agent.spool import Spool
from saltern.fleet.agent.task import PART, JobFolder, Outcome, Task
from saltern.fleet.broker.streams import make_streams
from saltern.fleet.bus.memory import MemoryHub
from saltern.fleet.identity.membership import Membership
from saltern.fleet.protocol.envelope import Issuer, certify
from saltern.fleet.protocol.ids import encode_id
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.messages import Certificate

FLEET = "fleet-1"
ROOT = SigningKey.new()


def issuer(now: float, name: str = "c1", life: float = 86_400.0) -> Issuer:
    key = SigningKey.new()
    certificate = Certificate(
        fleet=FLEET, serial=f"{name}-1", name=name, key=key.public, issued=now, expires=now + life
    )
    return Issuer(fleet=FLEET, key=key, certificate=certify(ROOT, certificate))


def member(id: str, starts: int = 1) -> Membership:
    return Membership(
        id=id,
        fleet=FLEET,
        servers=(),
        roots=(ROOT.public,),
        account="",
        issuer="",
        credential="",
        starts=starts,
    )


class LightRunner:
    """Counts what is worked on; ``holds`` has jobs that do not end before they are let go."""

    def __init__(self, folder: Path) -> None:
        self.folder_path = folder
        self.worked: Counter[str] = Counter()
        self.tasks: dict[str, asyncio.Task[Outcome]] = {}
        self.holds: dict[str, asyncio.Event] = {}
        self.cancelled: list[tuple[str, bool]] = []
        self.delay = 0.0

    def folder(self, jid: str) -> JobFolder:
        return JobFolder(str(self.folder_path / jid))

    def trace(self, jid: str) -> Trace:
        task = self.tasks.get(jid)
        ended = task is not None and task.done()
        return Trace(alive=task is not None and not ended, ended=ended, begun=self.worked[jid])

    async def work(self, task: Task) -> Outcome | None:
        self.worked[task.jid] += 1
        self.tasks[task.jid] = asyncio.create_task(self._work(task))
        return await self.follow(task.jid)

    async def _work(self, task: Task) -> Outcome:
        folder = self.folder(task.jid)
        folder.prepare(task)
        if task.function in self.holds:
            await self.holds[task.function].wait()
        await asyncio.sleep(self.delay)
        body = msgspec.json.encode({"id": "x"} if task.function == "grains.items" else task.args)
        Path(folder.file(PART.format(0))).write_bytes(body)
        return Outcome(attempt=task.attempt, code=0, parts=1, size=len(body))

    async def follow(self, jid: str) -> Outcome | None:
        """A worker outlives the agent that started it."""
        return await asyncio.shield(self.tasks[jid])

    async def cancel(self, jid: str, *, hard: bool, why: str = "") -> None:
        self.cancelled.append((jid, hard))


class LightFleet:
    """A hub, the stand-in of a controller, and agents with spools that outlive them."""

    def __init__(self, folder: Path, seed: int = 0) -> None:
        self.hub = MemoryHub(seed)
        self.folder = folder
        self.controller = Controller(self.hub.connect("c1"), issuer(time.time()))
        self.runners: dict[str, LightRunner] = {}
        self.starts: Counter[str] = Counter()

    async def start(self) -> None:
        await make_streams(self.controller.bus)
        await self.controller.start()

    async def agent(self, id: str) -> Agent:
        """A new agent, or the next one of the same machine."""
        runner = self.runners.setdefault(id, LightRunner(self.folder / id / "jobs"))
        self.starts[id] += 1
        spool = Spool(str(self.folder / id / "spool.db"))
        bus = self.hub.connect(encode_id(id))
        agent = Agent(member(id, self.starts[id]), bus, spool, runner)
        await agent.start()
        return agent

    async def stop(self, *agents: Agent) -> None:
        for agent in agents:
            await agent.close()
            agent.spool.close()
            await agent.bus.close()
        await self.controller.stop()
