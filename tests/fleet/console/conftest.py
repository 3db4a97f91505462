"""One controller with a console for each file of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("starlette", reason="needs the extra `controller`")

from tests.fleet.api.kit import Running
from tests.fleet.console.kit import Browser, running_console


@pytest.fixture(scope="module")
def fill() -> Callable[[Running], None]:
    """What the console has before the first test of a file, which may define its own."""
    return lambda _: None


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory, fill: Callable[[Running], None]) -> Iterator[Running]:
    with running_console(tmp_path_factory.mktemp("console")) as running:
        fill(running)
        yield running


@pytest.fixture
def visitor(console: Running) -> Browser:
    """Someone who has not signed in."""
    return Browser(console)


@pytest.fixture(scope="module")
def admin(console: Running) -> Browser:
    made = Browser(console)
    assert made.sign_in("admin").status == 303
    return made


@pytest.fixture(scope="module")
def viewer(console: Running) -> Browser:
    made = Browser(console)
    assert made.sign_in("viewer").status == 303
    return made
