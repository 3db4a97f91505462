"""The same scenarios with a real PostgreSQL, which is stricter with texts and lets many write at once."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from tests.fleet.controller import (
    kit,
    test_calls,
    test_chain_faults,
    test_chain_lost,
    test_returns,
    test_service,
    test_singleton,
)
from tests.fleet.databases import postgresql_address
from tests.fleet.harness import run
from tests.postgres_server import Server, running_server

from saltern.fleet.controller.calls import Calls
from saltern.fleet.store.database import Connection, open_database
from saltern.fleet.store.settings import write_setting

_numbers = count()
SCENARIOS = {
    name: test
    for module in (test_calls, test_chain_faults, test_chain_lost, test_returns, test_service, test_singleton)
    for name, test in vars(module).items()
    if name.startswith("test_") and list(inspect.signature(test).parameters) == ["tmp_path"]
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_the_same_with_postgresql(
    scenario: Callable[[Path], None], tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"fleet{next(_numbers)}"
    address = postgresql_address(server, name)
    monkeypatch.setattr(kit, "new_address", lambda _folder: address)
    scenario(tmp_path)
    server.psql(f"DROP DATABASE {name}")


def test_there_are_scenarios() -> None:
    assert len(SCENARIOS) > 20


def test_of_two_changes_that_wait_for_each_other_both_are_made(server: Server) -> None:
    database = open_database(postgresql_address(server, "deadlock"))
    both_hold_one = threading.Barrier(2)

    def change(connection: Connection, first: str, second: str, begun: list[str]) -> None:
        write_setting(connection, first, begun)
        begun.append(first)
        if len(begun) == 1:  # the second attempt is not in the way of another
            both_hold_one.wait(60)
        write_setting(connection, second, begun)

    async def scenario() -> None:
        calls = Calls(database)
        for name in "ab":
            await calls.write(write_setting, name, 0)
        await asyncio.gather(calls.write(change, "a", "b", []), calls.write(change, "b", "a", []))
        calls.close()

    try:
        run(scenario())
    finally:
        database.close()
