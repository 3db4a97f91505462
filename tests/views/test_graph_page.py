"""The page of ``saltern graph`` in a real browser: moved, searched, clicked, driven by keys."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect
from tests.views.pages import Pages, until, view_box


def test_a_click_on_a_state_shows_its_line_and_why_it_runs_there(page: Page, pages: Pages) -> None:
    page.goto(pages.graph("site", "web"))
    page.locator(".node", has_text="package").click()
    panel = page.locator("#panel")
    expect(panel.locator("h2")).to_have_text("package")
    expect(panel).to_contain_text("Runs as number 4 of 6.")
    expect(panel).to_contain_text(f"{pages.tree('site')}/web.sls:17")
    expect(panel.locator("pre")).to_have_text("package:\n  test.succeed_without_changes: []")
    expect(panel).to_contain_text("pulled forward by require of test.nop 'service'")


def test_a_relation_leads_to_the_other_state(page: Page, pages: Pages) -> None:
    page.goto(pages.graph("site", "web"))
    page.locator(".node", has_text="package").click()
    page.locator("#panel .link").first.click()
    expect(page.locator("#panel h2")).to_have_text("service")
    assert page.locator(".node.near").count() > 2
    expect(page.locator("#told")).to_have_text("service, number 5 of 6")


def test_an_address_leads_to_a_state_and_back_again(page: Page, pages: Pages) -> None:
    page.goto(pages.graph("site", "web") + "#3")
    expect(page.locator("#panel h2")).to_have_text("service")
    page.keyboard.press("ArrowRight")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(page.locator("#panel h2")).to_have_text("reload")


def test_it_zooms_with_the_wheel_with_keys_and_with_buttons(page: Page, pages: Pages) -> None:
    page.goto(pages.graph("many"))
    acts: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {
        "wheel": (lambda: page.mouse.wheel(0, -300), lambda: page.mouse.wheel(0, 300)),
        "keys": (lambda: page.keyboard.press("+"), lambda: page.keyboard.press("-")),
        "buttons": (lambda: page.locator("#in").click(), lambda: page.locator("#out").click()),
    }
    page.mouse.move(500, 400)
    before = view_box(page)
    for closer, farther in acts.values():
        closer()
        until(page, f"graph.viewBox.baseVal.width < {before[2] - 1}")
        farther()
        until(page, f"Math.abs(graph.viewBox.baseVal.width - {before[2]}) < 1")
        page.mouse.move(500, 400)
    page.locator("#whole").click()
    for box in (page.locator(".node").first.bounding_box(), page.locator(".node").last.bounding_box()):
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 1060


def test_the_wheel_keeps_what_is_under_the_pointer_where_it_is(page: Page, pages: Pages) -> None:
    page.goto(pages.graph("many"))
    node = page.locator("[data-key='0']")
    box = node.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.wheel(0, -200)
    until(page, "pixels() > 0.85")
    now = node.bounding_box()
    assert (
        now is not None and now["x"] < x < now["x"] + now["width"] and now["y"] < y < now["y"] + now["height"]
    )


def test_the_hand_moves_the_picture_and_does_not_click(page: Page, pages: Pages) -> None:
    page.goto(pages.graph("many"))
    before = page.locator(".node").first.bounding_box()
    page.mouse.move(300, 300)
    page.mouse.down()
    page.mouse.move(400, 350, steps=4)
    page.mouse.up()
    after = page.locator(".node").first.bounding_box()
    assert before is not None and after is not None
    assert abs(after["x"] - before["x"] - 100) < 2 and abs(after["y"] - before["y"] - 50) < 2
    assert page.locator(".selected").count() == 0


def test_the_map_shows_where_one_is_and_leads_elsewhere(page: Page, pages: Pages) -> None:
    page.goto(pages.graph("many"))
    before = view_box(page)
    page.locator("#map").click()
    assert view_box(page)[0] > before[0] + 500
    page.keyboard.press("0")
    expect(page.locator("#map")).to_be_hidden()


def test_the_search_finds_and_enter_goes_there(page: Page, pages: Pages) -> None:
    page.goto(pages.graph("many"))
    page.keyboard.press("/")
    page.keyboard.type("app17_")
    expect(page.locator("#matches")).to_have_text("12 found")
    page.keyboard.press("Enter")
    expect(page.locator("#matches")).to_have_text("1 of 12")
    box = page.locator(".selected").bounding_box()
    assert box is not None
    assert box["x"] > 0 and box["x"] + box["width"] < 1060 and box["y"] > 0 and box["y"] + box["height"] < 900
    assert box["height"] > 25  # large enough to be read
    page.keyboard.press("Escape")
    expect(page.locator("#matches")).to_have_text("")
    expect(page.locator("#canvas")).to_be_focused()


def test_everything_can_be_done_with_keys_alone(page: Page, pages: Pages) -> None:
    page.goto(pages.graph("site", "web"))
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#panel h2")).to_have_text("config")
    before = view_box(page)
    page.keyboard.press("Shift+ArrowDown")
    assert view_box(page)[1] > before[1] and view_box(page)[0] == before[0]
    page.keyboard.press("o")
    expect(page.locator("#orderline")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".selected")).to_have_count(0)
    seen: list[str] = []
    for _ in range(20):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.dataset.kind || ''"))
        if seen[-1]:
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert {"search", "order", "out", "whole", "in", "theme", "canvas", "watch"} <= set(seen)


def test_a_kind_of_requisite_can_be_hidden(page: Page, pages: Pages) -> None:
    page.goto(pages.graph("site", "web"))
    assert page.locator("#graph .e-watch").is_visible()
    page.locator("#legend [data-kind=watch]").click()
    assert page.locator("#graph .e-watch").is_hidden()


def test_what_is_rendered_late_stands_in_a_box_behind_its_state(page: Page, pages: Pages) -> None:
    page.goto(pages.graph("site", "late"))
    box = page.locator(".box rect").bounding_box()
    inner = [one.bounding_box() for one in page.locator(".n-unborn").all()]
    assert box is not None and len(inner) == 2
    for one in inner:
        assert one is not None
        assert box["x"] < one["x"] and one["x"] + one["width"] < box["x"] + box["width"]
        assert box["y"] < one["y"] and one["y"] + one["height"] < box["y"] + box["height"]
    page.locator(".box .title").click()
    expect(page.locator("#panel h2")).to_have_text("block accounts")
    expect(page.locator("#panel pre")).to_contain_text("first account:")


def test_a_run_has_the_colours_of_its_results(page: Page, pages: Pages) -> None:
    page.goto(pages.run("graph", "site", "late"))
    fills = {
        status: page.locator(f".s-{status} rect").first.evaluate("(one) => getComputedStyle(one).fill")
        for status in ("ok", "changed", "failed")
    }
    assert len(set(fills.values())) == 3
    expect(page.locator("#failures")).to_have_text("2 failed (1 blocked)")
    expect(page.locator("#panel")).to_contain_text("1 blocked by a failure")
    page.locator(".node", has_text="second account").click()
    expect(page.locator("#panel")).to_contain_text("Runs as number 2 of 2 in block accounts.")


LABELS = """(nodes) => nodes.filter((one) => !one.closest('#map')).map((one) => {
  const frame = one.querySelector('rect').getBoundingClientRect();
  const texts = [...one.querySelectorAll('text')].filter((text) => getComputedStyle(text).display !== 'none');
  const edges = (box) => [box.left, box.top, box.right, box.bottom];
  return [edges(frame), ...texts.map((text) => edges(text.getBoundingClientRect()))];
})"""
Edges = tuple[float, float, float, float]


def overlap(one: Edges, other: Edges) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@pytest.mark.parametrize("tree", ["many", "hostile"])
def test_labels_stay_in_their_states_and_apart_from_each_other(page: Page, pages: Pages, tree: str) -> None:
    page.goto(pages.graph(tree, *([tree] if tree == "hostile" else [])))
    for scale in (1.0, 0.6, 0.3, 0.2):
        room = f"width: graph.clientWidth / {scale}, height: graph.clientHeight / {scale}"
        page.evaluate(f"look({{x: 0, y: 0, {room}}})")
        labels: list[list[Edges]] = page.locator(".node").evaluate_all(LABELS)
        frames = sorted(frame for frame, *_ in labels)
        assert not any(overlap(one, other) for one, other in pairwise(frames))
        for frame, *texts in labels:
            assert all(text[0] >= frame[0] and text[2] <= frame[2] + 0.5 for text in texts)
            if len(texts) > 1:  # the name and its number stand in one line
                assert texts[0][2] <= texts[1][0] or texts[0][3] <= texts[1][1] + 3


def test_five_hundred_states_begin_where_they_can_be_read(page: Page, pages: Pages) -> None:
    page.goto(pages.graph("many"))
    first = page.locator("[data-key='0'] .title").bounding_box()
    assert first is not None
    assert first["x"] > 0 and first["y"] > 0 and first["height"] > 11
    expect(page.locator("#heading")).to_have_text("highstate · 504 states")


def test_what_everything_waits_for_is_drawn_with_each_part(page: Page, pages: Pages) -> None:
    page.goto(pages.graph("hub"))
    copies = page.locator(".n-copy")
    expect(copies).to_have_count(40)
    expect(copies.first).to_contain_text("all of base")
    copies.first.click()
    expect(page.locator("#panel h2")).to_have_text("all of base")
    expect(page.locator(".n-sls")).to_have_class("node n-sls near selected")
    expect(page.locator(".n-copy.near")).to_have_count(40)
