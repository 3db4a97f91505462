from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.views import trees
from tests.views.pages import Pages

# The first one has no window, tabs and menus of its own, and takes a third of the CPU.
PROGRAM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
PATIENCE = 40_000  # milliseconds: the machine may have other things to do
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def running_chromium() -> Iterator[Browser]:
    """The machine's own browser; Playwright brings none."""
    if PROGRAM is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=PROGRAM, args=list(FLAGS), chromium_sandbox=False
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")  # not longer: as long as it lives, a loop of asyncio runs in this thread
def chromium() -> Iterator[Browser]:
    with running_chromium() as browser:
        yield browser


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page. What its script complains of, and whatever it asks for beyond itself, fails the test."""
    page = chromium.new_page(viewport={"width": 1400, "height": 900})
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text))
    page.on("request", lambda one: complaints.append(one.url) if not one.is_navigation_request() else None)
    yield page
    page.context.close()
    assert [one for one in complaints if not one.startswith("data:")] == []


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    """Pages of trees and runs, each written once for all tests of a file."""
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("pages")
        patch.setenv("SALTERN_STATE_DIR", str(place / "state"))
        yield Pages(place)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SALTERN_STATE_DIR", str(tmp_path / "state"))
    return trees.site(tmp_path / "states")
