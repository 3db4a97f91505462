"""The states and functions of MySQL, with a server of the tests' own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.mariadb_server import Server, running_server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running_server() as found:
        yield found
