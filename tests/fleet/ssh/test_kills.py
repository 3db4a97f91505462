"""Whatever is killed, at any point of a run over a real sshd: the job ends right, once, and is found again.

Points are counted in a run without harm: each read and each write of the caller is one, from the first byte
of the bundle to the last one of the result. Two of them are tried here, others every day, and all of them
with ``make chaos``.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest
from tests.fleet.ssh.conftest import ssh_for
from tests.fleet.ssh.server import Server
from tests.fleet.ssh.test_cuts import Budget, CutChannel, Field, is_right

from saltern.fleet.agent.task import JobFolder
from saltern.fleet.ssh.bundle.make import Bundles
from saltern.fleet.ssh.drive import Done
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.transport.ports import Channel, Transport

ALL = bool(os.environ.get("CHAOS_SECONDS"))
OWN_RUN = 3  # attempts of the caller until the job is found


class Killed(Exception):
    """The caller is no more."""


class Saboteur(Budget):
    """Does harm at one point, once."""

    def __init__(self, kind: str = "", allowed: int = 0, harm: Callable[[], None] = lambda: None) -> None:
        super().__init__(kind, allowed)
        self._harm = harm

    def spend(self, what: str) -> bool:
        if super().spend(what):
            self._harm()
        return False


class HarmedTransport:
    """Real channels, whose reads and writes are counted."""

    def __init__(self, inner: Transport, saboteur: Saboteur) -> None:
        self._inner = inner
        self._saboteur = saboteur

    async def open(self, host: Host, command: str) -> Channel:
        return CutChannel(await self._inner.open(host, command), self._saboteur)

    async def close(self) -> None:
        await self._inner.close()


class Place:
    """A host with an sshd of its own, and what can be killed there."""

    def __init__(self, server: Server, sockets: Path, field: Field) -> None:
        self.server, self.sockets, self.field = server, sockets, field
        self.number = 0

    @property
    def base(self) -> Path:
        return self.field.directory / "base"

    def kill_session(self) -> None:
        self.server.cut()

    def kill_sshd(self) -> None:
        self.server.stop()
        self.server.cut()
        self.server.start()

    def kill_worker(self) -> None:
        for folder in (self.base / "systems" / "id-h" / "jobs").glob("*-aaaaaa"):
            if pid := JobFolder(str(folder)).lock.holder():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def kill_caller(self) -> None:
        raise Killed

    def run(self, saboteur: Saboteur) -> Done:
        """The job, begun again by another caller whenever the one before was killed."""
        for _ in range(OWN_RUN):
            transport = HarmedTransport(ssh_for(self.server, self.sockets, keep=1), saboteur)
            with suppress(Killed):
                return self.field.run(transport, self.number, self.server.host("h", directory=str(self.base)))
        raise AssertionError("the caller was killed more than once")


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="k") as path:  # short: it holds sockets
        directory = Path(path)
        (directory / "s").mkdir(0o700)
        server = Server(directory / "sshd").start()
        try:
            yield Place(server, directory / "s", Field(directory, Bundles(f"{directory}/bundles")))
        finally:
            server.stop()


@pytest.fixture(scope="module")
def counts(place: Place) -> dict[str, int]:
    """How many reads and writes a run has without harm."""
    whole = Saboteur()
    assert is_right(place.run(whole))
    return whole.counts


def chosen(name: str, count: int) -> list[int]:
    """All points, or one that is another one every day."""
    if ALL:
        return list(range(1, count + 1))
    return [1 + (date.today().toordinal() * 7 + len(name)) % count]


HARMS = {
    "session": Place.kill_session,
    "sshd": Place.kill_sshd,
    "worker": Place.kill_worker,
    "caller": Place.kill_caller,
}


@pytest.mark.parametrize("name", HARMS)
def test_killed_at_any_point(place: Place, counts: dict[str, int], name: str) -> None:
    field = place.field
    for kind in ("write", "read"):
        for point in chosen(name, counts[kind]):
            place.number += 1
            field.mark.unlink(missing_ok=True)
            if kind == "write":
                field.forget_bundle()
            done = place.run(Saboteur(kind, point, lambda: HARMS[name](place)))
            if done.status == "failed" and not field.mark.exists():
                done = place.run(
                    Saboteur()
                )  # never let in, and that is what it says: the next call begins it
            assert field.mark.read_text() == "first\n", (name, kind, point, done)
            if name != "worker" or done.status == "returned":
                assert is_right(done), (name, kind, point, done)
            else:  # a program that was interrupted is not run again, and that is what it says
                assert done.why or done.failed, (kind, point, done)
