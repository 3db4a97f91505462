"""Work on the database: many changes share a transaction, and none takes another with it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.fleet.controller.kit import new_database
from tests.fleet.harness import run

from saltern.fleet.controller.calls import Calls
from saltern.fleet.store.database import Connection
from saltern.fleet.store.groups import groups, set_group
from saltern.language.diagnostics import OperationError


def test_one_that_fails_takes_no_other_with_it(tmp_path: Path) -> None:
    def add(connection: Connection, number: int) -> int:
        set_group(connection, f"g{number}", "*")
        if number % 3 == 0:
            raise ValueError(number)
        return number

    async def scenario() -> None:
        database = new_database(tmp_path)
        calls = Calls(database)
        hold = threading.Event()
        first = asyncio.create_task(calls.write(lambda _connection: hold.wait(10)))
        rest = [asyncio.create_task(calls.write(add, number)) for number in range(250)]
        await asyncio.sleep(0)
        hold.set()
        assert await first
        done = await asyncio.gather(*rest, return_exceptions=True)
        for number, result in enumerate(done):
            assert isinstance(result, ValueError) if number % 3 == 0 else result == number
        kept = await calls.read(groups)
        assert kept.keys() == {f"g{number}" for number in range(250) if number % 3}
        calls.close()
        database.close()

    run(scenario())


def test_one_that_is_not_waited_for_is_done_all_the_same(tmp_path: Path) -> None:
    async def scenario() -> None:
        database = new_database(tmp_path)
        calls = Calls(database)
        hold = threading.Event()
        first = asyncio.create_task(calls.write(lambda _connection: hold.wait(10)))
        task = asyncio.create_task(calls.write(set_group, "g", "*"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        hold.set()
        await first
        await calls.write(set_group, "h", "*")
        calls.close()  # with several writers, one may be done before an earlier one
        with database.read() as connection:
            assert groups(connection).keys() == {"g", "h"}
        database.close()

    run(scenario())


def stored_together(
    folder: Path, *works: Callable[[Connection], None]
) -> tuple[list[BaseException | None], list[str]]:
    """What comes of changes that are written in one transaction, and the names of the stored groups."""

    async def scenario() -> tuple[list[BaseException | None], list[str]]:
        database = new_database(folder)
        calls = Calls(database)
        hold = threading.Event()
        first = asyncio.create_task(calls.write(lambda _connection: hold.wait(10)))
        rest = [asyncio.create_task(calls.write(work)) for work in works]
        await asyncio.sleep(0)
        hold.set()
        await first
        done = await asyncio.gather(*rest, return_exceptions=True)
        kept = sorted(await calls.read(groups))
        calls.close()
        database.close()
        return done, kept

    return run(scenario())


def test_an_error_of_the_database_in_one_of_several_changes_is_one_for_people(tmp_path: Path) -> None:
    def fail(connection: Connection) -> None:
        connection.exec_driver_sql("SELECT * FROM no_table")

    works = [partial(set_group, name=name, expression="x") for name in ("g1", "g3")]
    done, kept = stored_together(tmp_path, works[0], fail, works[1])
    assert kept == ["g1", "g3"] and done[0] is done[2] is None
    assert isinstance(done[1], OperationError) and "no_table" in str(done[1])
