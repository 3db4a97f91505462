"""The same scenarios with a real PostgreSQL, which is stricter with texts and lets many write at once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from tests.fleet.controller import kit, test_calls, test_returns, test_service, test_singleton
from tests.postgres_server import Server, running_server

_numbers = count()
SCENARIOS = {
    name: test
    for module in (test_calls, test_returns, test_service, test_singleton)
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
    server.psql(f"CREATE DATABASE {name}")
    address = f"postgresql://postgres@/{name}?host={server.place}&port={server.port}"
    monkeypatch.setattr(kit, "new_address", lambda _folder: address)
    scenario(tmp_path)
    server.psql(f"DROP DATABASE {name}")


def test_there_are_scenarios() -> None:
    assert len(SCENARIOS) > 20
