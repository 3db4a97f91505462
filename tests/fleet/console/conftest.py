"""One controller with a console for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="needs the extra `controller`")

from tests.fleet.api.kit import Running
from tests.fleet.console.kit import Browser, running_console


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_console(tmp_path_factory.mktemp("console")) as running:
        yield running


@pytest.fixture
def visitor(console: Running) -> Browser:
    """Someone who has not signed in."""
    return Browser(console)


@pytest.fixture
def admin(console: Running) -> Browser:
    made = Browser(console)
    assert made.sign_in("admin").status == 303
    return made


@pytest.fixture
def viewer(console: Running) -> Browser:
    made = Browser(console)
    assert made.sign_in("viewer").status == 303
    return made
