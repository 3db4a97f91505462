"""A running API, empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra `controller`")

from tests.fleet.api.kit import Running, running_api

from saltern.fleet.client.client import Client


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Running]:
    with running_api(tmp_path) as running:
        yield running


@pytest.fixture
def client(api: Running) -> Iterator[Client]:
    with Client(api.socket) as client:
        yield client
