"""A real connection of ssh is cut after any number of bytes: at login, in the bundle, at the start, later.
The job is done right, and once. One point here, another one every day; more by ``make chaos``.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from tests.fleet.ssh.conftest import ssh_for
from tests.fleet.ssh.proxy import DOWN, UP, Wire
from tests.fleet.ssh.server import Server
from tests.fleet.ssh.test_cuts import Field, is_right

from saltern.fleet.ssh.bundle.make import Bundles
from saltern.fleet.ssh.drive import Done

ALL = bool(os.environ.get("CHAOS_SECONDS"))
POINTS = 40 if ALL else 1


class Line:
    """A host that is reached through a wire."""

    def __init__(self, directory: Path) -> None:
        (directory / "s").mkdir(0o700)
        self.sockets = directory / "s"
        self.server = Server(directory / "sshd").start()
        self.wire = Wire(self.server.port)
        self.field = Field(directory, Bundles(f"{directory}/bundles"))
        key = self.server.known_hosts.read_text().split(maxsplit=1)[1]
        self.server.known_hosts.write_text(f"[127.0.0.1]:{self.wire.port} {key}")
        self.number = 0

    def run(self) -> Done:
        host = self.server.host("h", port=self.wire.port, directory=str(self.field.directory / "base"))
        return self.field.run(ssh_for(self.server, self.sockets, keep=1), self.number, host)

    def forget(self) -> None:
        """The next run is another job, on a host without a bundle, over a connection of its own."""
        self.number += 1
        self.field.mark.unlink(missing_ok=True)
        self.field.forget_bundle()
        self.server.cut()

    def close(self) -> None:
        self.wire.close()
        self.server.stop()


@pytest.fixture(scope="module")
def line() -> Iterator[Line]:
    with tempfile.TemporaryDirectory(prefix="w") as path:  # short: it holds sockets
        found = Line(Path(path))
        try:
            yield found
        finally:
            found.close()


@pytest.fixture(scope="module")
def sizes(line: Line) -> dict[str, int]:
    """How many bytes a run has in each direction, the bundle among them."""
    assert is_right(line.run())
    return dict(line.wire.counts)


def chosen(total: int) -> list[int]:
    """Numbers of bytes, spread over all of them with both ends; others every day."""
    shift = date.today().toordinal() % 97 / 97
    return [int(total * (number + shift) / POINTS) for number in range(POINTS)]


@pytest.mark.parametrize("direction", [UP, DOWN])
def test_cut_after_any_number_of_bytes(line: Line, sizes: dict[str, int], direction: str) -> None:
    for size in chosen(sizes[direction]):
        line.forget()
        line.wire.arm(direction, size)
        done = line.run()
        if done.status == "failed":  # never let in, and that is what it says: the next call begins it
            assert not line.field.mark.exists(), (size, done)
            done = line.run()
        assert is_right(done), (direction, size, done)
        assert line.field.mark.read_text() == "first\n", (direction, size)
