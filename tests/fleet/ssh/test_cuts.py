"""The connection is cut after any number of bytes, in either direction: the job is done right, and once."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fleet.ssh.conftest import no_secrets

from saltern.config.load import load
from saltern.fleet.protocol.codec import Body, unpack_body
from saltern.fleet.ssh.bundle.make import Bundles
from saltern.fleet.ssh.drive import Done, Drive, Reach, Work
from saltern.fleet.ssh.pillar import HostPillar, sources_of
from saltern.fleet.ssh.pool import Limits
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.transport.local import LocalShell
from saltern.fleet.ssh.transport.ports import Channel, Ended, Transport
from saltern.fleet.ssh.tree import local_tree

Transports = Callable[[], LocalShell]
TRANSPORTS: dict[str, Transports] = {"shell": LocalShell}  # what else implements Transport is added here


class CutChannel:
    """A channel that is gone after so many reads and writes of some bytes."""

    def __init__(self, channel: Channel, budget: Budget) -> None:
        self._channel = channel
        self._budget = budget
        self._cut = False

    async def _spend(self, what: str) -> None:
        if self._budget.spend(what):
            self._cut = True
            await self._channel.kill()

    async def read(self, most: int) -> bytes:
        await self._spend("read")
        return b"" if self._cut else await self._channel.read(min(most, SOME))

    async def write(self, data: bytes | memoryview) -> None:
        for start in range(0, len(data), PIECE):
            await self._spend("write")
            if self._cut:
                return
            await self._channel.write(data[start : start + PIECE])

    async def end_input(self) -> None:
        await self._channel.end_input()

    async def wait(self) -> Ended:
        return Ended(None, "") if self._cut else await self._channel.wait()

    async def kill(self) -> None:
        await self._channel.kill()

    def errors(self) -> str:
        return self._channel.errors()

    async def until_errors(self, text: str) -> None:
        await self._channel.until_errors(text)


SOME = 64  # bytes of one read: frames come in several parts
PIECE = 400_000  # bytes of one write: the bundle goes in several parts


class Budget:
    """How many reads or writes are allowed, over all channels, until the one that is cut."""

    def __init__(self, kind: str = "", allowed: int = 0) -> None:
        self.counts = {"read": 0, "write": 0}
        self._kind = kind
        self._allowed = allowed

    def spend(self, what: str) -> bool:
        self.counts[what] += 1
        return what == self._kind and self.counts[what] == self._allowed


class CutTransport:
    def __init__(self, inner: LocalShell, budget: Budget) -> None:
        self._inner = inner
        self._budget = budget
        self.opened = 0

    async def open(self, host: Host, command: str) -> Channel:
        self.opened += 1
        return CutChannel(await self._inner.open(host, command), self._budget)

    async def close(self) -> None:
        await self._inner.close()


class Field:
    """A tree with two states that leave a mark each, and a host that has a bundle or none."""

    def __init__(self, directory: Path, bundles: Bundles) -> None:
        self.directory = directory
        self.mark = directory / "mark"
        self.bundles = bundles
        tree = directory / "tree"
        tree.mkdir()
        (tree / "web.sls").write_text(
            f"first:\n  cmd.run:\n    - name: echo first >> {self.mark}\n"
            f"{directory}/page:\n  file.managed:\n    - source: salt://page\n"
            "    - require:\n      - cmd: first\n"
        )
        (tree / "page").write_text("text\n" * 100)
        settings, _ = load(None, {"pillar_roots": {"base": [f"{directory}/none"]}}, {})
        self.pillar = HostPillar(sources_of(settings))
        self._tree = local_tree({"base": [str(tree)]}, str(directory / "digests"))

    def forget_bundle(self) -> None:
        shutil.rmtree(self.directory / "base" / "bundles")

    def work(self, number: int) -> Work:
        task = {
            "jid": f"20260101T000000.{number:06d}-aaaaaa",
            "function": "state.apply",
            "args": ["web"],
            "command": "apply",
            "durable": True,
            "overrides": {"id": "h"},
        }
        return Work(task=task, tree=self._tree, pillar=self.pillar, patience=60.0)

    def run(self, transport: Transport, number: int, host: Host | None = None) -> Done:
        base = str(self.directory / "base")
        host = host or Host(id="h", address="", local=True, directory=base, python=sys.executable)
        reach = Reach(transport, no_secrets, Limits(1), self.bundles)

        async def main() -> Done:
            drive = Drive(host, self.work(number), reach, lambda _kind, _head: None)
            try:
                return await asyncio.wait_for(drive.run(), 100)
            finally:
                await transport.close()
                await self.pillar.close()

        return asyncio.run(main())


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Bundles:
    return Bundles(str(tmp_path_factory.mktemp("bundles")))


def is_right(done: Done) -> bool:
    body = unpack_body(Body(encoding=done.encoding, size=done.size, parts=(done.body,)))
    (states,) = body.values() if isinstance(body, dict) else ({},)
    return done.status == "returned" and [one["result"] for one in states.values()] == [True, True]


def points(count: int, most: int) -> list[int]:
    """Numbers from 1 to ``count``, spread evenly, with both ends."""
    step = max(1, -(-count // most))
    return sorted({*range(1, count + 1, step), count})


@pytest.mark.parametrize("kind", ["write", "read"])
@pytest.mark.parametrize("name", TRANSPORTS)
def test_a_cut_at_any_point_of_a_run(tmp_path: Path, bundles: Bundles, name: str, kind: str) -> None:
    """Frames of a run are counted without a cut; then it is cut at each of them in turn."""
    field = Field(tmp_path, bundles)
    whole = Budget()
    assert is_right(field.run(CutTransport(TRANSPORTS[name](), whole), 0))
    for point in points(whole.counts[kind], 10):
        field.mark.unlink()
        if kind == "write":
            field.forget_bundle()
        transport = CutTransport(TRANSPORTS[name](), Budget(kind, point))
        done = field.run(transport, point)
        if done.problem == "cut" and transport.opened == 1:
            assert not field.mark.exists()  # never let in: nothing was begun, and that is what it says
            assert done.status == "failed"
            done = field.run(CutTransport(TRANSPORTS[name](), Budget()), point)
        assert is_right(done), (point, done)
        assert field.mark.read_text() == "first\n", point
