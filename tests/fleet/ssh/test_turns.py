"""A few hosts of a roster at a time: never more than allowed, and every host ends, whatever comes of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.chains.amounts import read_amount
from saltern.fleet.protocol.batch import Batch
from saltern.fleet.ssh.turns import HELD, HostTurns
from saltern.fleet.store.statuses import ENDS


class Hosts:
    """Hosts that end as they are told, after as many turns of the loop as they are told."""

    def __init__(self, ends: list[tuple[str, int]], batch: Batch) -> None:
        self.rows: dict[str, dict[str, Any]] = {
            f"h{number}": {"status": HELD, "updated": time.time()} for number in range(len(ends))
        }
        self._ends = dict(zip(self.rows, ends, strict=True))
        self.busy = self.most = 0
        self.begun: list[str] = []
        self.why = ""
        self.turns = HostTurns(batch, self.rows, self._begin, self._stop)

    async def _begin(self, system: str) -> None:
        self.begun.append(system)
        self.rows[system].update(status="sent")
        self.busy += 1
        self.most = max(self.most, self.busy)
        status, turns = self._ends[system]
        for _ in range(turns):
            await asyncio.sleep(0)
        self.busy -= 1
        self.rows[system].update(status=status, updated=time.time())

    def _stop(self, systems: Iterable[str], status: str, why: str) -> None:
        self.why = why
        for system in systems:
            self.rows[system].update(status=status, updated=time.time())

    def statuses(self) -> list[str]:
        return [row["status"] for row in self.rows.values()]


hosts = st.lists(st.tuples(st.sampled_from(["returned", "failed", "indeterminate"]), st.integers(0, 3)))
amounts = st.one_of(st.integers(1, 5).map(str), st.integers(1, 100).map("{}%".format))


@given(hosts, amounts, st.sampled_from(["", "0", "1", "50%"]))
def test_never_more_than_allowed(ends: list[tuple[str, int]], size: str, failures: str) -> None:
    here = Hosts(ends, Batch(size=size, failures=failures))
    asyncio.run(here.turns.run())
    assert here.most <= read_amount(size).at_most(len(ends))
    assert set(here.statuses()) <= ENDS
    assert here.begun == list(here.rows)[: len(here.begun)]
    failed = sum(ends[number][0] != "returned" for number in range(len(here.begun)))
    if failures and len(here.begun) < len(ends):
        assert read_amount(failures).is_exceeded(failed, len(ends))
        assert "systems failed before" in here.why
    else:
        assert len(here.begun) == len(ends)


def test_one_that_is_called_off_begins_nowhere_else() -> None:
    here = Hosts([("returned", 1)] * 3, Batch(size="1"))

    async def main() -> None:
        task = asyncio.create_task(here.turns.run())
        while not here.begun:
            await asyncio.sleep(0)
        here.turns.cancel()
        await task

    asyncio.run(main())
    assert here.statuses() == ["returned", "cancelled", "cancelled"]


def test_the_next_one_waits() -> None:
    wait = 0.05
    here = Hosts([("returned", 0)] * 3, Batch(size="1", wait=wait))
    asyncio.run(here.turns.run())
    ends = [row["updated"] for row in here.rows.values()]
    assert all(later - earlier >= wait for earlier, later in pairwise(ends))
