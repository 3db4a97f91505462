"""A fleet without a single point of failure: three controllers, three brokers, PostgreSQL, an agent and its
worker as processes of their own, and light agents; and what it takes to kill one of them in a job.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from tests.fleet.controller.processes import (
    AgentProcess,
    ControllerProcess,
    Worker,
    all_returned,
    join,
    saltern,
    wait_for,
)
from tests.fleet.harness import until
from tests.postgres_server import Server

from saltern.fleet.client.client import Client
from saltern.fleet.client.problems import ControllerError

NAMES = ("c1", "c2", "c3")
REAL = "real"
# The real agent's worker says that it runs, and ends when it may.
COMMAND = "echo x >> {0}.begun; while [ ! -e {0} ]; do sleep 0.1; done"


class Gap(Struct, frozen=True):
    """How long a job waited for those who were left."""

    victim: str
    first: float  # seconds until the first return was stored after the kill
    last: float  # until the last


class Nine:
    """``start``, then ``kill_in_a_job`` as often as wanted."""

    def __init__(self, folder: Path, server: Server, *, light: int) -> None:
        self.folder = folder
        self.server = server
        self.light = light
        server.psql("CREATE DATABASE fleet")
        address = f"postgresql://postgres@/fleet?host={server.place}&port={server.port}"
        self._config = f"database: {address}\n"
        self.every: list[ControllerProcess] = []
        self.three = [self.another(name) for name in NAMES]
        self.agents: list[Worker] = []
        self.real: AgentProcess | None = None
        self.jobs = 0
        self.victims: dict[str, Callable[[str], None]] = {
            **{one.folder.name: lambda _jid, one=one: one.kill() for one in self.three},  # type: ignore[misc]
            **{f"broker of {one.folder.name}": lambda _jid, one=one: _end(one.broker) for one in self.three},  # type: ignore[misc]
            "postgresql": lambda _jid: self.server.kill(),
            "agent": lambda _jid: self._real().kill(),
            "worker": lambda jid: _end(self._real().worker(jid)),
            "c1 with its broker": lambda _jid: self.three[0].kill_machine(),
        }

    def _real(self) -> AgentProcess:
        assert self.real is not None
        return self.real

    def another(self, name: str) -> ControllerProcess:
        """A controller that is not started yet; it ends with the rest."""
        made = ControllerProcess(self.folder / name, f"name: {name}\n{self._config}")
        self.every.append(made)
        return made

    # -- start and end -----------------------------------------------------------------------------------

    async def start(self) -> None:
        """One controller, then the others, one after the other: the first one is never restarted."""
        first = self.three[0]
        await asyncio.to_thread(first.start)
        for other in self.three[1:]:
            await asyncio.to_thread(admit, first, other)
            await asyncio.to_thread(other.start)
        for one in self.three:
            await asyncio.to_thread(wait_for, lambda one=one: one.client.ready(), one.log)  # type: ignore[misc]
        token = self.three[1].client.tokens.make(uses=self.light + 1)
        self.agents = await asyncio.gather(*(join(token, f"web{number}") for number in range(self.light)))
        self.real = await asyncio.to_thread(AgentProcess, self.folder / REAL, token, REAL)
        self._real().start()

    async def stop(self) -> None:
        if self.real is not None:
            await asyncio.to_thread(self.real.stop)
        for agent in self.agents:
            await agent.bus.close()

    def clean_up(self) -> None:
        """After a test, whatever happened in it."""
        if self.real is not None:
            self.real.kill()
        for one in self.every:
            one.clean_up()

    # -- a kill ------------------------------------------------------------------------------------------

    async def kill_in_a_job(self, victim: str) -> Gap:
        """Submit a job for all, kill one process when all have it, and check that nothing of it is lost."""
        self.jobs += 1
        gate = self.folder / f"gate{self.jobs}"
        for agent in self.agents:
            agent.hold = True
        submitter, client = self._clients(victim)
        jid = submitter.jobs.submit("state.single", "*", args=["cmd.run", COMMAND.format(gate)])["jid"]
        await until(lambda: all(_has(agent, jid) for agent in self.agents), timeout=60)
        await asyncio.to_thread(wait_for, Path(f"{gate}.begun").exists)
        began = time.monotonic()
        self.victims[victim](jid)
        gate.touch()
        restart = asyncio.to_thread(self._restart_what_a_service_manager_restarts, victim)
        watch = asyncio.create_task(asyncio.to_thread(_until_first, client, jid))
        await asyncio.gather(restart, *(agent.finish() for agent in self.agents))
        first = await watch
        await asyncio.to_thread(wait_for, lambda: all_returned(client, jid))
        gap = Gap(victim, first - began, time.monotonic() - began)
        self._check_stored_once(client, jid)
        await asyncio.to_thread(self._restart_controllers)
        return gap

    def _clients(self, victim: str) -> tuple[Client, Client]:
        """Who submits: the victim itself, if it can; and one who is asked afterwards."""
        at = next((n for n, one in enumerate(self.three) if one.folder.name in victim), 0)
        return self.three[at].client, self.three[(at + 1) % 3].client

    def _restart_what_a_service_manager_restarts(self, victim: str) -> None:
        """A controller does so with its broker by itself; a controller is left dead until the job is over."""
        if victim == "postgresql":
            self.server.start_after_crash()
        if victim == "agent":
            self._real().start()

    def _restart_controllers(self) -> None:
        for one in self.three:
            if not one.is_running():
                one.start()
        for one in self.three:
            wait_for(lambda one=one: one.client.ready(), one.log)  # type: ignore[misc]

    def _check_stored_once(self, client: Client, jid: str) -> None:
        tags = [event["tag"] for event in client.events(tag=f"salt/job/{jid}/ret/*")]
        wanted = [f"salt/job/{jid}/ret/{name}" for name in (REAL, *(agent.id for agent in self.agents))]
        assert sorted(tags) == sorted(wanted)

    async def ping(self) -> None:
        """All systems answer, whoever is asked."""
        for one in self.three:
            jid = one.client.jobs.submit("test.ping", "*")["jid"]
            for agent in self.agents:
                agent.hold = False
            await asyncio.to_thread(wait_for, lambda jid=jid, one=one: all_returned(one.client, jid))  # type: ignore[misc]


def admit(first: ControllerProcess, other: ControllerProcess) -> None:
    """A second controller joins with an invitation, which is good for one."""
    said = saltern("controller", "invite", other.folder.name, "--directory", str(first.folder))
    token = said.split()[-1]
    saltern("controller", "join", token, "--directory", str(other.folder))


def _has(agent: Worker, jid: str) -> bool:
    return any(job.jid == jid for job in agent.jobs)


def _end(pid: int) -> None:
    assert pid > 0
    os.kill(pid, signal.SIGKILL)


def _until_first(client: Client, jid: str) -> float:
    """When the first return of a job was stored."""
    wait_for(lambda: _any_returned(client, jid))
    return time.monotonic()


def _any_returned(client: Client, jid: str) -> bool:
    with suppress(ControllerError):
        return any(row["status"] == "returned" for row in client.jobs.targets(jid))
    return False
