"""Brokers for tests: the real server as a process of its own, and the one in memory, behind one face."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol, TypeVar

from saltern.fleet.bus.backoff import Backoff
from saltern.fleet.bus.client import NatsBus
from saltern.fleet.bus.connection import Connection
from saltern.fleet.bus.memory import MemoryHub
from saltern.fleet.bus.ports import Bus
from saltern.fleet.protocol.subjects import Grants

T = TypeVar("T")

SERVER = shutil.which("nats-server", path=str(Path(sys.executable).parent)) or "nats-server"
QUICK = Backoff(steps=(0.05, 0.1, 0.2), stable=1.0)
LIMITED = Grants(publish=("allowed.>", "kept.mine.>"), subscribe=("allowed.>", "_INBOX.limited.>"))
NAMES = ("one", "two", "three", "limited")


def user_environment(directory: Path, **more: str) -> dict[str, str]:
    """What a user whose home is this directory runs the program with; nothing of the machine is in it."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "SALTERN_STATE_DIR": str(directory / "own" / "state"),
        "SALTERN_CACHEDIR": str(directory / "own" / "cache"),
        "PYTHONDONTWRITEBYTECODE": "",
        **more,
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run(scenario: Awaitable[T], timeout: float = 60.0) -> T:
    async def limited() -> T:
        async with asyncio.timeout(timeout):
            return await scenario

    return asyncio.run(limited())


async def until(true: Callable[[], object], timeout: float = 15.0) -> None:
    """Wait for something to become true."""
    async with asyncio.timeout(timeout):
        while not true():
            await asyncio.sleep(0.01)


class Place(Protocol):
    """A broker that a test may stop and start."""

    async def connect(self, name: str) -> Bus: ...

    def stop(self, *, lose_disk: bool = False) -> None: ...

    def start(self) -> None: ...

    def close(self) -> None: ...


class MemoryPlace:
    def __init__(self) -> None:
        self.hub = MemoryHub()

    async def connect(self, name: str) -> Bus:
        return self.hub.connect(name, LIMITED) if name == "limited" else self.hub.connect(name)

    def stop(self, *, lose_disk: bool = False) -> None:
        self.hub.stop(lose_disk=lose_disk)

    def start(self) -> None:
        self.hub.start()

    def close(self) -> None: ...


class NatsPlace:
    """A bare nats-server with four users, one of them with few rights."""

    def __init__(self, base: Path, extra: str = "") -> None:
        self.base = base
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        (base / "nats.conf").write_text(self._config() + extra)

    def _config(self) -> str:
        def quoted(subjects: tuple[str, ...]) -> str:
            return ", ".join(f'"{one}"' for one in subjects)

        rights = f"publish: [{quoted(LIMITED.publish)}], subscribe: [{quoted(LIMITED.subscribe)}]"
        users = "\n".join(
            f"{{user: {name}, password: secret{f', permissions: {{{rights}}}' if name == 'limited' else ''}}}"
            for name in NAMES
        )
        return (
            f'host: 127.0.0.1\nport: {self.port}\njetstream {{ store_dir: "{self.base}/js" }}\n'
            f"authorization {{ users: [\n{users}\n] }}\n"
        )

    def start(self) -> None:
        with (self.base / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [SERVER, "-c", str(self.base / "nats.conf")], stdout=log, stderr=log, env={"PATH": os.defpath}
            )
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1) as probe:
                    if probe.recv(4) == b"INFO":
                        return
            except OSError:
                time.sleep(0.01)
        raise AssertionError((self.base / "log").read_text())

    def stop(self, *, lose_disk: bool = False) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None
        if lose_disk:
            shutil.rmtree(self.base / "js", ignore_errors=True)

    def url(self, name: str) -> str:
        return f"nats://{name}:secret@127.0.0.1:{self.port}"

    async def connect(self, name: str) -> Bus:
        return await NatsBus.connect(Connection(servers=(self.url(name),), name=name, backoff=QUICK))

    def close(self) -> None:
        self.stop()
