"""Many callers start the same job at the same moment, and some of them are killed: it is done once, and every
caller that is left gets the same result.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections.abc import Iterator

import pytest
from tests.fleet.ssh.conftest import no_secrets
from tests.fleet.ssh.test_cuts import Field, is_right

from saltern.fleet.ssh.bundle.make import Bundles
from saltern.fleet.ssh.drive import Done, Drive, Reach
from saltern.fleet.ssh.pool import Limits
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.transport.local import LocalShell

ALL = bool(os.environ.get("CHAOS_SECONDS"))
ROUNDS, CALLERS = (60, 12) if ALL else (3, 5)


class Crowd:
    """Callers that all want one job on one host."""

    def __init__(self, field: Field) -> None:
        self.field = field
        base = str(field.directory / "base")
        self._host = Host(id="h", address="", local=True, directory=base, python=sys.executable)

    def run(self, number: int, *, gone: int = 0) -> list[Done]:
        """What the callers get. The first ``gone`` of them are killed somewhere on their way."""

        async def main() -> list[Done]:
            callers = [asyncio.create_task(self._drive(number).run()) for _ in range(CALLERS)]
            for one in callers[:gone]:
                asyncio.get_running_loop().call_later(random.random(), one.cancel)
            await asyncio.wait(callers, timeout=200)
            await self.field.pillar.close()
            return [one.result() for one in callers if not one.cancelled()]

        return asyncio.run(main())

    def _drive(self, number: int) -> Drive:
        reach = Reach(LocalShell(), no_secrets, Limits(CALLERS), self.field.bundles)
        return Drive(self._host, self.field.work(number), reach, lambda _kind, _head: None)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    directory = tmp_path_factory.mktemp("crowd")
    yield Crowd(Field(directory, Bundles(str(directory / "bundles"))))


@pytest.mark.parametrize("gone", [0, 2])
def test_one_job_and_many_callers(crowd: Crowd, gone: int) -> None:
    for number in range(ROUNDS):
        crowd.field.mark.unlink(missing_ok=True)
        done = crowd.run(1000 * (gone + 1) + number, gone=gone)
        assert len(done) >= CALLERS - gone
        assert all(map(is_right, done)), done
        assert crowd.field.mark.read_text() == "first\n"
        assert len({one.body for one in done}) == 1
