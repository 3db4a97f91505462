"""Both buses: every test that asks for ``place`` runs on each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.harness import MemoryPlace, NatsPlace, Place


@pytest.fixture(params=["memory", "nats"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    made: Place = MemoryPlace() if request.param == "memory" else NatsPlace(tmp_path)
    made.start()
    yield made
    made.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsPlace]:
    made = NatsPlace(tmp_path)
    made.start()
    yield made
    made.close()
