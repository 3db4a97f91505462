"""The states and functions of PostgreSQL, with a server of the tests' own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest
from tests.modules.bench import Bench
from tests.postgres_server import Server, running_server

from saltern.modules.functions import postgres as functions


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


MakeBench = Callable[[str], Bench]


@pytest.fixture
def bench_of(server: Server, tmp_path: Path) -> MakeBench:
    """``bench_of("postgres_user")``: its states, against the server."""

    def make(name: str) -> Bench:
        module = import_module(f"saltern.modules.states.{name}")
        return Bench(tmp_path, module, functions={"postgres": functions}, opts=server.opts)

    return make


@pytest.fixture
def users(bench_of: MakeBench) -> Bench:
    return bench_of("postgres_user")


@pytest.fixture
def databases(bench_of: MakeBench) -> Bench:
    return bench_of("postgres_database")
