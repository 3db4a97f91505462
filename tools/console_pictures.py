"""``python -m tools.console_pictures [FOLDER]``: takes the pictures of docs/guides/console.md in Chromium.

Their fleet is invented by ``bench/console_scale.py``; the pages are the real ones. With a folder, the same
pictures in the dark theme are written there, for inspection.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from shutil import which
from typing import Any, Literal

from bench.console_scale import fill
from bench.console_size import SMALL
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright
from tests.fleet.console.kit import PASSWORD, running_console

HERE = Path(__file__).resolve().parent.parent / "docs" / "guides" / "pictures"
Theme = Literal["light", "dark"]
SIZE: ViewportSize = {"width": 1280, "height": 800}
CHAIN = """\
chain: os-patch-web
description: Patch, reboot, prove that all is well.
actions:
  - id: drain
    command:
      run: lbctl drain "$HOSTNAME"
      unless: lbctl is-drained "$HOSTNAME"
  - id: patch
    patch: {refresh: true}
    retry: {attempts: 2, wait: 60}
  - id: reboot
    reboot:
      when: needed
      return_deadline: 3600
      stable: 60
  - id: web
    state: web
  - id: smoke
    health: {url: "http://localhost/healthz", attempts: 24, interval: 5}
finally:
  - id: note
    command: logger -t saltern "os-patch has ended"
"""


def addresses(client: Any, wide: str) -> Mapping[str, str]:
    """The name of each picture, and the page that it shows. ``wide``: the run of many systems."""
    waiting = client.inbox()["items"]
    gate = next(one for one in waiting if one["kind"] == "gate")
    job = next(iter(client.jobs.list()))["jid"]
    return {
        "overview": "/",
        "run": f"/runs/{wide}",
        "builder": "/chains/os-patch-web/edit",
        "approval": f"/inbox/gate/{gate['run']}/{gate['gate']}",
        "calendar": "/calendar?target=G@role:db",
        "job": f"/jobs/{job}",
    }


def take(page: Page, base: str, name: str, path: str, folder: Path) -> None:
    """Open a page, and take its picture."""
    page.goto(base + path)
    if name == "builder":
        page.locator(".act").nth(2).click()
        page.wait_for_selector("#f-return_deadline")
    if name == "run":
        page.keyboard.press("n")
        page.keyboard.press("Enter")
        page.wait_for_selector("#drawer .log")
        page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=folder / f"console-{name}.png")


def sign_in(page: Page, base: str) -> None:
    page.goto(f"{base}/sign-in")
    page.fill("[name=name]", "admin")
    page.fill("[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{base}/")


def take_all(browser: Browser, base: str, pages: Mapping[str, str], folder: Path, theme: Theme) -> None:
    page = browser.new_page(viewport=SIZE, color_scheme=theme)
    sign_in(page, base)
    for name, path in pages.items():
        take(page, base, name, path, folder)
    page.close()


def main(dark: str = "") -> int:
    HERE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        wide = fill(Path(folder) / "fleet.db", SMALL)
        with (
            running_console(Path(folder), host="127.0.0.1", port=0) as api,
            sync_playwright() as playwright,
        ):
            client = api.client()
            client.chains.save(CHAIN)
            program = which("chromium-headless-shell") or which("chromium")
            browser = playwright.chromium.launch(executable_path=program, chromium_sandbox=False)
            base, pages = f"http://127.0.0.1:{api.server.port}", addresses(client, wide)
            take_all(browser, base, pages, HERE, "light")
            if dark:
                take_all(browser, base, pages, Path(dark), "dark")
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
