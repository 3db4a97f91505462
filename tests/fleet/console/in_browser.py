"""Pages of the console in the machine's own browser."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright", reason="needs the browser")

from playwright.sync_api import BrowserContext, Page, ViewportSize, expect
from tests.fleet.api.kit import Running
from tests.fleet.console.kit import PASSWORD
from tests.views.conftest import PATIENCE

SCREEN = ViewportSize(width=1440, height=900)


def address(running: Running) -> str:
    return f"http://127.0.0.1:{running.server.port}"


def new_page(context: BrowserContext) -> Page:
    """A page that waits as long as a busy machine needs."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    return page


def sign_in(page: Page, running: Running, name: str = "admin") -> Page:
    page.goto(f"{address(running)}/sign-in")
    page.fill("[name=name]", name)
    page.fill("[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{address(running)}/")
    return page
