"""What both pages promise to everybody: one file, any name, any screen, any colours, any way to use it."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect
from tests.views.pages import Pages
from tests.views.trees import HOSTILE

BACKGROUND = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(20, 23, 28)"
KINDS = ("graph", "report")
NARROW = ViewportSize(width=360, height=740)


@pytest.mark.parametrize("kind", KINDS)
def test_pages_follow_the_system_and_the_button(page: Page, pages: Pages, kind: str) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(pages.run(kind, "site", "late"))
    assert page.evaluate(BACKGROUND) == DARK
    page.locator("#theme").click()
    assert page.evaluate(BACKGROUND) == LIGHT
    page.emulate_media(color_scheme="light")
    page.locator("#theme").click()
    assert page.evaluate(BACKGROUND) == DARK


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_one_file_and_may_not_fetch_anything(page: Page, pages: Pages, kind: str) -> None:
    page.goto(pages.run(kind, "site", "late"))
    assert page.url.startswith("file://")
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0
    policy = page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    assert policy is not None and policy.startswith("default-src 'none'")


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_shown_and_never_obeyed(page: Page, pages: Pages, kind: str) -> None:
    page.goto(pages.run(kind, "hostile", "hostile"))
    if kind == "report":
        page.keyboard.press("e")
        told = page.locator("#rows").text_content() or ""
    else:
        told = ""
        for _ in HOSTILE:
            page.keyboard.press("ArrowRight")
            told += page.locator("#panel").inner_text()
    for name in HOSTILE:
        for line in name.replace("\u202e", "\\u202e").split("\n"):
            assert line in told
    assert "\u202e" not in page.content().partition('<script type="application/json"')[0]
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, body script:not(#data):not(:last-of-type)").count() == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_complain_of(page: Page, pages: Pages, kind: str, scheme: str) -> None:
    """Contrast, names of buttons, roles, landmarks: the rules of axe-core."""
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(pages.run(kind, "site", "late"))
    page.keyboard.press("e" if kind == "report" else "ArrowRight")
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"], one["nodes"][0]["any"]) for one in found] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_narrow_screen_is_enough(page: Page, pages: Pages, kind: str) -> None:
    page.set_viewport_size(NARROW)
    page.goto(pages.run(kind, "site", "late"))
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    for one in page.locator("button:visible, input:visible, select:visible").all():
        box = one.bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= NARROW["width"]
    if kind == "report":
        expect(page.locator("#ruler")).to_be_hidden()
    else:
        page.locator(".node", has_text="first account").dispatch_event("click")
        panel = page.locator("#panel").bounding_box()
        assert panel is not None and panel["width"] == NARROW["width"]


def test_a_graph_is_printed_whole_and_alone(page: Page, pages: Pages, tmp_path: Path) -> None:
    page.goto(pages.graph("many"))
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#panel").is_hidden() and page.locator("header").is_hidden()
    assert page.evaluate(BACKGROUND) == LIGHT
    part = page.evaluate("[seen().width >= full.width * 0.99, seen().height >= full.height * 0.99]")
    assert part == [True, True]
    assert page.pdf(path=tmp_path / "graph.pdf").startswith(b"%PDF")


def test_a_finger_moves_and_two_fingers_zoom(page: Page, pages: Pages) -> None:
    page.goto(pages.graph("many"))
    script = """([kind, id, x, y]) => canvas.dispatchEvent(new PointerEvent(kind, {pointerId: id, clientX: x,
      clientY: y, bubbles: true}))"""
    page.evaluate("canvas.setPointerCapture = () => {}")  # there is no real finger to capture
    before = page.evaluate("pixels()")
    for touch in (["pointerdown", 7, 400, 400], ["pointerdown", 8, 500, 400], ["pointermove", 8, 600, 400]):
        page.evaluate(script, touch)
    assert page.evaluate("pixels()") == pytest.approx(before * 2)


def test_a_picture_alone_is_drawn_by_the_browser_in_both_colours(
    page: Page, pages: Pages, tmp_path: Path
) -> None:
    from tests.views.trees import saltern

    file = tmp_path / "late.svg"
    assert saltern("graph", "late", "--file-root", str(pages.tree("site")), "-o", str(file)) == 0
    fill = "(one) => getComputedStyle(one).fill"
    for scheme, colour in (("light", LIGHT), ("dark", DARK)):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.goto(file.as_uri())
        assert page.locator(".paper").evaluate(fill) == colour
        expect(page.locator(".node")).to_have_count(6)
