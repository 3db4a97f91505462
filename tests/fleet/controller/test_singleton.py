"""Leases: one controller at a time works, and one that slept through the end of its lease writes nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.fleet.controller.kit import new_database
from tests.fleet.harness import run

from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.singleton import Hold, LeaseLost, Singleton
from saltern.fleet.store.groups import groups, set_group


def test_the_writes_of_one_whose_lease_was_taken_are_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        database = new_database(tmp_path)
        calls = Calls(database)
        holds: dict[str, Hold] = {}

        def work(name: str) -> Singleton:
            async def keep(hold: Hold) -> None:
                holds[name] = hold

            return Singleton(calls, "work", name, keep, every=1.0, seconds=0.3)

        one, two = work("c1"), work("c2")
        assert await one.step()
        assert not await two.step()  # it is held
        while not await two.step():  # until its time is over; c1 sleeps
            await asyncio.sleep(0.02)
        with pytest.raises(LeaseLost):
            await holds["c1"].write(set_group, "late", "*")
        await holds["c2"].write(set_group, "in time", "*")
        assert (await calls.read(groups)).keys() == {"in time"}
        await two.stop()
        one.fence = None
        assert await one.step()  # given up, so there is no need to wait
        assert holds["c1"].fresh
        calls.close()
        database.close()

    run(scenario())
