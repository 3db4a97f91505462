"""One controller with a console for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("starlette", reason="needs the extra `controller`")

from tests.fleet.api.kit import Running
from tests.fleet.console.kit import Browser, running_console

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Running]:
    """What it has before the first test of a file, the ``add_all`` of the file says."""
    with running_console(tmp_path_factory.mktemp("console")) as running:
        add_all = getattr(request.module, "add_all", None)
        if add_all is not None:
            add_all(running)
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


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    from tests.views.conftest import running_chromium

    with running_chromium() as browser:
        yield browser


@pytest.fixture
def page(chromium: Chromium) -> Iterator[Page]:
    """A visitor of the console with a browser, who has not signed in."""
    from tests.fleet.console.in_browser import SCREEN, new_page

    context = chromium.new_context(viewport=SCREEN)
    try:
        yield new_page(context)
    finally:
        context.close()
