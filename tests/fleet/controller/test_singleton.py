"""Leases: one controller at a time works, and one that slept through the end of its lease writes nothing."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.controller.kit import new_database
from tests.fleet.harness import run, until

from saltern.fleet.bus.tasks import end
from saltern.fleet.controller import singleton
from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.singleton import Hold, LeaseLost, Singleton
from saltern.fleet.store.groups import groups, set_group
from saltern.fleet.store.leases import lease_holder
from saltern.language.diagnostics import Diagnostic, OperationError


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


def test_one_that_is_woken_often_works_now_and_then(tmp_path: Path) -> None:
    async def scenario() -> None:
        database = new_database(tmp_path)
        calls = Calls(database)
        rounds = 0

        async def keep(_hold: Hold) -> None:
            nonlocal rounds
            rounds += 1

        one = Singleton(calls, "work", "c1", keep, every=60.0)
        task = asyncio.create_task(one.run())
        wakes = 0
        while rounds < 4:  # each of them may come late, but none is left out
            one.wake()
            wakes += 1
            await asyncio.sleep(0)
        task.cancel()
        assert wakes > 100
        await asyncio.gather(task, return_exceptions=True)
        calls.close()
        database.close()

    run(scenario())


def test_the_same_problem_is_in_the_log_once_until_the_work_is_done_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        database = new_database(tmp_path)
        calls = Calls(database)
        rounds = 0

        async def fail(_hold: Hold) -> None:
            nonlocal rounds
            rounds += 1
            if rounds not in (4, 5):
                raise OperationError(Diagnostic(code="database-error", what="its disk is full"))

        one = Singleton(calls, "work", "c1", fail, every=0.01)
        task = asyncio.create_task(one.run())
        await until(lambda: rounds >= 8)
        await end(task)
        calls.close()
        database.close()

    run(scenario())
    assert [record.getMessage() for record in caplog.records if "full" in record.getMessage()] == [
        "work: its disk is full [database-error]"
    ] * 2


def test_hints_wait_where_the_last_round_found_nothing_and_do_not_where_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        database = new_database(tmp_path)
        calls = Calls(database)
        rounds, has_work = 0, False

        async def keep(_hold: Hold) -> bool:
            nonlocal rounds
            rounds += 1
            return has_work

        one = Singleton(calls, "work", "c1", keep, every=60.0)
        task = asyncio.create_task(one.run())
        await until(lambda: rounds == 1)
        for _ in range(10):
            one.hint()
            await asyncio.sleep(2 * singleton.APART / 10)
        assert rounds == 1
        has_work = True
        one.wake()
        await until(lambda: rounds == 2)
        one.hint()
        await until(lambda: rounds == 3)
        await end(task)
        calls.close()
        database.close()

    monkeypatch.setattr(singleton, "LAZY", 60.0)
    run(scenario())


def test_a_hint_is_followed_within_the_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        database = new_database(tmp_path)
        calls = Calls(database)
        rounds: list[float] = []

        async def keep(_hold: Hold) -> bool:
            rounds.append(one._began)
            return False

        one = Singleton(calls, "work", "c1", keep, every=60.0)
        task = asyncio.create_task(one.run())
        for number in range(1, 4):
            await until(lambda number=number: len(rounds) == number)  # type: ignore[misc]
            for _ in range(10):
                one.hint()
        await until(lambda: len(rounds) == 4)
        await end(task)
        assert all(after - before >= 0.3 for before, after in pairwise(rounds))
        calls.close()
        database.close()

    monkeypatch.setattr(singleton, "LAZY", 0.3)
    run(scenario())


def test_leases_of_those_that_wait_are_renewed_in_one_transaction(tmp_path: Path) -> None:
    async def scenario() -> None:
        database = new_database(tmp_path)
        calls = Calls(database)
        writes: list[Any] = []
        write, hangs = calls.write, asyncio.Event()

        async def count(*given: Any, **more: Any) -> Any:
            writes.append(given)
            return await write(*given, **more)

        async def keep(_hold: Hold) -> None: ...

        async def hang(_hold: Hold) -> None:
            await hangs.wait()

        calls.write = count  # type: ignore[method-assign]
        all_: list[Singleton] = []
        works = {"a": keep, "b": keep, "c": keep, "stuck": hang}
        all_ += [
            Singleton(calls, name, "c1", work, every=0.02, seconds=1.0, beside=all_)
            for name, work in works.items()
        ]
        tasks = [asyncio.create_task(one.run()) for one in all_]
        await until(lambda: all(one.fence == 1 for one in all_))
        writes.clear()
        await until(lambda: {"a", "b", "c"} in [set(given[2]) for given in writes])
        assert "stuck" not in {name for given in writes for name in given[2]}  # it must lose its lease
        with database.read() as connection:
            assert all(lease_holder(connection, name) == (1, True) for name in "abc")
        for task in tasks:
            await end(task)
        calls.close()
        database.close()

    run(scenario())


def test_a_lease_of_another_controller_is_not_written(tmp_path: Path) -> None:
    async def scenario() -> None:
        database = new_database(tmp_path)
        calls = Calls(database)

        async def keep(_hold: Hold) -> None: ...

        one, two = (Singleton(calls, "work", name, keep, every=1.0, seconds=60.0) for name in ("c1", "c2"))
        assert await one.step()
        calls.write = None  # type: ignore[method-assign, assignment]
        assert not await two.step()
        calls.close()
        database.close()

    run(scenario())
