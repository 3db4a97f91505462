"""Controllers as processes of their own, and light agents that join them over the network."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.fleet.controller.kit import LightAgent
from tests.fleet.harness import QUICK

from saltern.fleet.agent.task import JobFolder
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.connection import Connection
from saltern.fleet.bus.ports import BusError
from saltern.fleet.client.client import Client
from saltern.fleet.client.problems import ControllerError
from saltern.fleet.identity.keys import new_keys
from saltern.fleet.identity.membership import (
    KeyCredential,
    ask_to_join,
    become_member,
    client_tls,
    joiner_credential,
)
from saltern.fleet.identity.token import JoinToken, read_token
from saltern.fleet.protocol.messages import Job

PATIENCE = 90.0


def saltern(*argv: str, code: int = 0, stream: str = "stdout") -> str:
    """A command to its end; its standard output, or the other one."""
    done = subprocess.run(
        [sys.executable, "-m", "saltern", *argv],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == code, done.stderr + done.stdout
    return str(getattr(done, stream))


class ControllerProcess:
    """``saltern controller --directory``."""

    def __init__(self, folder: Path, config: str = "") -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        if config:
            (folder / "controller.yaml").write_text(config)
        self.socket = str(folder / "controller.sock")
        self.log = folder / "log"
        self.client = Client(self.socket)
        self._process: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        with (self.folder / "out").open("ab") as out, self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "saltern", "controller", "--directory", str(self.folder)],
                stdout=out,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )

    def start(self) -> None:
        """Return when it is ready."""
        before = self.log.read_text().count("saltern: ready") if self.log.exists() else 0
        self.launch()
        self.wait_ready(before)

    def wait_ready(self, before: int = 0) -> None:
        assert self._process is not None
        wait_for(
            lambda: self.log.read_text().count("saltern: ready") > before or self._process.poll() is not None,  # type: ignore[union-attr]
            self.log,
        )
        assert self._process.poll() is None, self.log.read_text()

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def broker(self) -> int:
        return int((self.folder / "controller/broker/broker.pid").read_text())

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def kill_machine(self) -> None:
        """The controller and its broker, at once."""
        broker = self.broker
        self.kill()
        os.kill(broker, signal.SIGKILL)

    def wait(self) -> int:
        """Wait until it has ended by itself; its exit code."""
        assert self._process is not None
        return self._process.wait(PATIENCE)

    def stop(self) -> int:
        """End it as a service manager does; its exit code."""
        if self._process is None or self._process.poll() is not None:
            return -1
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(PATIENCE)

    def clean_up(self) -> None:
        """After a test, whatever happened in it."""
        self.client.close()
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        try:
            os.kill(self.broker, signal.SIGKILL)
        except (OSError, ValueError):
            pass


def wait_for(true: Callable[[], object], log: Path | None = None, timeout: float = PATIENCE) -> None:
    """Look again and again; a controller that cannot answer now is waited for."""
    end = time.monotonic() + timeout
    while True:
        with suppress(ControllerError):
            if true():
                return
        if time.monotonic() > end:
            raise AssertionError(log.read_text() if log else "it did not happen")
        time.sleep(0.02)


class Worker(LightAgent):
    """An agent that returns each job once, as soon as it is let."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.hold = False
        self.done: list[str] = []

    async def on_job(self, job: Job) -> None:
        if not self.hold and job.jid not in self.done:
            self.done.append(job.jid)
            await self._give_until_kept(job.jid)

    async def _give_until_kept(self, jid: str) -> None:
        """As the outbox of an agent: a broker without a leader is asked again."""
        while True:
            try:
                return await self.give(jid)
            except BusError:
                await asyncio.sleep(0.2)

    async def finish(self) -> None:
        """Return all that was held back, until the broker has it."""
        self.hold = False
        for job in self.jobs:
            await self.on_job(job)


async def join(token: str, id: str) -> Worker:
    """What a new machine does with a token, and then its agent."""
    read: JoinToken = read_token(token, time.time())
    name, credential = joiner_credential(read)
    bus = await _connect(read, name, credential)
    keys = new_keys()
    answer = await ask_to_join(bus, read, id, keys, now=time.time(), facts={})
    await bus.close()
    assert answer.state == "accepted", answer
    member = become_member(read, id, keys, answer.credential)
    bus = await _connect(read, member.name, KeyCredential(member.credential, keys.signing))
    agent = Worker(bus, id, {}, trust=member.trust)
    await agent.start()
    return agent


async def _connect(token: JoinToken, name: str, credential: KeyCredential) -> NatsBus:
    settings = Connection(
        servers=token.servers, name=name, credential=credential, tls=client_tls(token.ca), backoff=QUICK
    )
    return await NatsBus.connect(settings, wait=20)


class AgentProcess:
    """``saltern agent run``, with workers of its own."""

    def __init__(self, folder: Path, token: str, id: str) -> None:
        self.id = id
        self._folder = folder
        saltern("agent", "join", token, "--directory", str(folder), "--id", id)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "saltern", "agent", "run", "--directory", str(self._folder)],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )

    def worker(self, jid: str) -> int:
        """The process that works on a job; 0 if there is none."""
        with suppress(OSError):
            return JobFolder(str(self._folder / "agent/jobs" / jid)).lock.holder()
        return 0

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(PATIENCE)


def statuses(client: Client, jid: str) -> dict[str, str]:
    return {row["system"]: row["status"] for row in client.jobs.targets(jid)}


def all_returned(client: Client, jid: str) -> bool:
    return set(statuses(client, jid).values()) == {"returned"}
