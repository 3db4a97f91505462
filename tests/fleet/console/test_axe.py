"""Every page in the real Chromium: axe-core with all its rules, in both themes, narrow; and on paper."""

from __future__ import annotations

import time
from collections.abc import Iterator
from urllib.parse import quote

import pytest

pytest.importorskip("playwright", reason="needs the browser")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from tests.fleet.api.kit import Running
from tests.fleet.console.everything import LEG, PARTS, RUN, add_everything, all_names, page_paths
from tests.fleet.console.in_browser import new_page, sign_in
from tests.fleet.console.kit import running_console

# More than one address of a page where it looks different: the past, each system, a mistake, nothing found.
MORE = (
    "/sign-in",
    "/nothing-here",
    "/systems?t=web*",
    "/systems?t=G@no-such-fact:1",
    f"/runs/{RUN}?at={time.time() - 60:.0f}",
    f"/runs/{RUN}?rows=each",
    "/chains?add=" + quote('{"command": "true"}'),
    "/chains/built?target=*",
    "/chains/brand-new/edit",
    "/calendar?target=*&chain=built",
    "/command?target=*&run=test.ping",
    "/admin?state=accepted",
    "/admin/policy?who=admin&function=test.ping&target=*",
    "/events?hours=720",
)
WAYS = {"light": (1440, "light"), "dark": (1440, "dark"), "narrow": (420, "light")}


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_console(tmp_path_factory.mktemp("axe"), host="127.0.0.1", port=0) as running:
        add_everything(running)
        yield running


@pytest.fixture(scope="module")
def addresses(console: Running) -> list[str]:
    """Every page of the table, with what there is."""
    found = page_paths(all_names(console))
    return [*(path for path in found if not path.endswith(PARTS)), *MORE]


def enter(chromium: Browser, console: Running, way: str) -> Page:
    width, scheme = WAYS[way]
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    return sign_in(new_page(context), console)


@pytest.mark.parametrize("way", WAYS)
def test_axe_finds_nothing_on_any_page(
    chromium: Browser,
    console: Running,
    addresses: list[str],
    way: str,
) -> None:
    page = enter(chromium, console, way)
    addresses = addresses if way == "light" else addresses[: -len(MORE)]
    wrong: list[object] = []
    try:
        for path in addresses:
            answer = page.goto(f"http://127.0.0.1:{console.server.port}{path}")
            if answer is None or answer.status not in (200, 404 if path == "/nothing-here" else 200):
                wrong.append((path, answer and answer.status))
                continue
            if path == f"/runs/{RUN}":
                page.keyboard.press("n")
                page.keyboard.press("Enter")
                expect(page.locator("#drawer .log")).to_be_visible()
            wrong += [
                (path, one["id"], [node["html"][:160] for node in one["nodes"][:2]])
                for one in Axe().run(page).response["violations"]
            ]
            root = "document.documentElement"
            if page.evaluate(f"{root}.scrollWidth > {root}.clientWidth"):
                wrong.append((path, "is scrolled sideways"))
    finally:
        page.context.close()
    assert wrong == [], "\n".join(map(str, wrong))


@pytest.mark.parametrize("path", ["/", f"/runs/{RUN}", f"/runs/{RUN}/{LEG}", "/plans/planned", "/systems"])
def test_paper_has_the_page_and_none_of_its_controls(
    chromium: Browser,
    console: Running,
    path: str,
) -> None:
    page = enter(chromium, console, "dark")
    try:
        page.emulate_media(media="print", color_scheme="dark")
        page.goto(f"http://127.0.0.1:{console.server.port}{path}")
        for what in ("header.bar", "footer.foot", ".travel", "button.acts", ".bulk"):
            for one in page.locator(what).all():
                expect(one).to_be_hidden()
        expect(page.locator("h1").first).to_be_visible()
        ink = page.evaluate("getComputedStyle(document.querySelector('h1')).color")
        assert sum(map(int, ink.strip("rgba()").split(",")[:3])) < 200, "dark letters, whatever the theme"
        assert page.pdf(format="A4").startswith(b"%PDF")
    finally:
        page.context.close()
