"""What failed in a run of hundreds of states: open, apart from what it has blocked, and one click away."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from tests.views.pages import Pages, titles

GUILTY = ["part2 fails", "part7 fails"]


def test_failed_rows_are_open_and_blocked_ones_look_different(page: Page, pages: Pages) -> None:
    page.goto(pages.run("report", "failing"))
    assert page.locator(".row.open > .line .title").all_text_contents() == GUILTY
    expect(page.locator(".badge.blocked").first).to_have_text("blocked")
    looks = [
        page.locator(f".badge.{status}").first.evaluate("(one) => getComputedStyle(one).borderTopStyle")
        for status in ("failed", "blocked")
    ]
    assert looks == ["none", "dashed"]
    blamed = page.locator(".line", has_text="part2 waits 0").locator(".blame")
    assert blamed.text_content() == "because of part2 fails"
    assert page.locator(".row.open").first.locator(".blame").text_content() == "blocks 3 states"


def test_the_number_of_failures_leads_to_them(page: Page, pages: Pages) -> None:
    page.goto(pages.run("report", "failing"))
    link = page.locator("#failures")
    expect(link).to_have_text("8 failed (6 blocked by others)")
    link.click()
    assert titles(page)[0] == page.locator(":focus .title").inner_text() == GUILTY[0]
    assert len(titles(page)) == 8
    page.locator(".details a", has_text="part2 waits 1").click()
    assert page.locator(":focus .title").inner_text() == "part2 waits 1"
    page.locator(".details a", has_text=GUILTY[0]).last.click()
    assert page.locator(":focus .title").inner_text() == GUILTY[0]


def test_the_graph_has_a_way_to_every_failure(page: Page, pages: Pages) -> None:
    page.goto(pages.run("graph", "failing"))
    expect(page.locator("#failures")).to_have_text("8 failed (6 blocked)")
    for title in (*GUILTY, GUILTY[0]):
        page.locator("#failures").click()
        expect(page.locator("#panel h2")).to_have_text(title)
    page.keyboard.press("Escape")
    page.locator("#panel .link.blocked").click()
    expect(page.locator("#panel h2")).to_contain_text("waits")
    page.keyboard.press("n")
    expect(page.locator("#panel h2")).to_have_text(GUILTY[1])


@pytest.mark.parametrize("tree", ["failing", "huge"])
def test_something_can_be_read_at_every_zoom(page: Page, pages: Pages, tree: str) -> None:
    """Names of states, or from afar those of their files; on paper no letter is smaller than these."""
    page.goto(pages.run("graph", "failing") if tree == "failing" else pages.graph("huge"))
    page.locator("#canvas").focus()
    page.keyboard.press("0")
    for _ in range(14):
        sizes = page.evaluate(SEEN)
        assert sizes, "nothing has a name here"
        assert min(sizes) >= 7.5
        page.keyboard.press("+")


def test_labels_from_afar_do_not_cover_each_other(page: Page, pages: Pages) -> None:
    page.goto(pages.graph("unfolded"))
    page.locator("#canvas").focus()
    page.keyboard.press("0")
    boxes = [one.bounding_box() for one in page.locator(".label").all()]
    kept = [(one["x"], one["y"], one["x"] + one["width"], one["y"] + one["height"]) for one in boxes if one]
    assert len(kept) > 5
    assert not [(a, b) for a in kept for b in kept if a < b and covers(a, b)]


Box = tuple[float, float, float, float]


def covers(one: Box, other: Box) -> bool:
    slack = 3  # a box is a little higher than its letters
    return (
        one[0] < other[2] - slack
        and other[0] < one[2] - slack
        and one[1] < other[3] - slack
        and other[1] < one[3] - slack
    )


# How high the letters of all names are that are on the screen, in pixels.
SEEN = """() => {
  const room = document.getElementById("canvas").getBoundingClientRect();
  return [...document.querySelectorAll("#graph .title, #graph .label")].flatMap((one) => {
    const box = one.getBoundingClientRect();
    const across = box.left < room.right && box.right > room.left;
    const inside = box.width && across && box.top < room.bottom && box.bottom > room.top;
    return inside ? [parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a] : [];
  });
}"""
