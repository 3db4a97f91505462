"""The page of ``saltern report --html`` in a real browser: a tree, filters, times, diffs, keys, addresses."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect
from tests.views.pages import Pages, titles


def test_states_frames_and_steps_are_a_tree(page: Page, pages: Pages) -> None:
    page.goto(pages.run("report", "site", "late"))
    assert titles(page)[1:4] == ["block accounts", "first account", "second account"]
    assert titles(page)[-3:] == ["steps", "one step", "two"]
    frame = page.locator("#rows > li > ol > .frame")
    assert frame.locator("ol > li .title").all_text_contents() == ["first account", "second account"]
    lefts = [one.bounding_box() for one in page.locator(".row .title").all()[:3]]
    assert [one["x"] for one in lefts if one] == sorted({one["x"] for one in lefts if one})


def test_what_is_below_a_state_can_be_folded(page: Page, pages: Pages) -> None:
    page.goto(pages.run("report", "site", "late"))
    twist = page.locator(".frame > .twist")
    twist.click()
    assert "first account" not in titles(page)
    expect(twist).to_have_attribute("aria-expanded", "false")
    page.locator(".frame > .line").focus()
    page.keyboard.press("ArrowRight")
    assert "first account" in titles(page)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("j")
    assert page.locator(":focus .title").inner_text() == "broken"


def test_failures_are_open_and_filters_leave_what_fits(page: Page, pages: Pages) -> None:
    page.goto(pages.run("report", "site", "late"))
    expect(page.locator(".row.open .badge")).to_have_text("failed")  # and not what it has blocked
    page.locator("[data-filter=failed]").click()
    assert titles(page) == ["broken", "blocked"]
    expect(page.locator("#count")).to_have_text("2 of 6 states, 0 of 2 sub states")
    page.keyboard.press("Escape")
    assert len(titles(page)) == 9
    page.locator("#steps").uncheck()
    assert len(titles(page)) == 7
    page.locator("[data-filter=changed]").click()
    assert titles(page)[1:] == ["block accounts", "first account", "steps"]  # and what that stands under


def test_the_search_looks_into_comments_and_changes(page: Page, pages: Pages) -> None:
    page.goto(pages.run("report", "site", "late"))
    page.keyboard.press("/")
    page.keyboard.type("443")
    assert titles(page) == ["steps", "one step"]
    page.locator("#search").fill("nothing like this")
    expect(page.locator("#none")).to_be_visible()
    page.keyboard.press("Escape")
    assert len(titles(page)) == 9


def test_a_diff_is_coloured_and_old_and_new_stand_below_each_other(page: Page, pages: Pages) -> None:
    page.goto(pages.run("report", "site", "late"))
    page.keyboard.press("e")
    assert page.locator(".sub .diff .add").all_inner_texts() == ["+ 443", "+y"]
    assert page.locator(".sub .diff .remove").all_inner_texts() == ["- 80", "-x"]
    colours = page.locator(".sub .diff .add, .sub .diff .remove").evaluate_all(
        "(some) => some.map((one) => getComputedStyle(one).backgroundColor)"
    )
    assert len(set(colours)) == 2


def test_the_timeline_has_a_bar_for_each_state_in_the_order_they_ran(page: Page, pages: Pages) -> None:
    page.goto(pages.run("report", "site", "late"))
    bars = page.locator(".state > .line .time i").evaluate_all(
        "(some) => some.map((one) => [one.getBoundingClientRect().left, one.getBoundingClientRect().width])"
    )
    assert len(bars) == 6
    assert [left for left, _ in bars] == sorted(left for left, _ in bars)
    assert all(width >= 3 for _, width in bars)
    assert page.locator("#ruler span").first.inner_text() == "0"


def test_a_state_has_an_address(page: Page, pages: Pages) -> None:
    address = pages.run("report", "site", "late")
    page.goto(address)
    page.locator(".line", has_text="second account").click()
    link = page.locator(".row.open", has_text="second account").locator("a").last.get_attribute("href")
    page.goto("about:blank")
    page.goto(f"{address}{link}")
    assert page.locator(":focus .title").inner_text() == "second account"
    expect(page.locator(":focus")).to_have_attribute("aria-expanded", "true")
    page.goto("about:blank")
    page.goto(f"{address}#failed")
    assert titles(page) == ["broken", "blocked"]


def test_it_is_walked_with_keys(page: Page, pages: Pages) -> None:
    page.goto(pages.run("report", "site", "late"))
    page.keyboard.press("n")
    assert page.locator(":focus .title").inner_text() == "broken"
    assert page.locator(":focus").evaluate("(one) => getComputedStyle(one).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.locator(":focus")).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("j")
    assert page.locator(":focus .title").inner_text() == "blocked"
    page.keyboard.press("2")
    assert titles(page) == ["broken", "blocked"]


def test_a_state_whose_id_is_a_template_has_its_line(page: Page, pages: Pages) -> None:
    page.goto(pages.run("report", "site", "late"))
    page.locator(".line").first.click()
    assert "late.sls:2:3" in page.locator(".about").first.inner_text()


def test_five_thousand_states_are_shown_searched_and_sorted(page: Page, pages: Pages) -> None:
    page.goto(pages.run("report", "huge"))
    expect(page.locator(".row")).to_have_count(5004)
    page.locator("#sort").select_option("slow")
    slowest = page.evaluate(
        "[...document.querySelectorAll('.line')].slice(0, 9).map((one) => rows[one.dataset.row].took)"
    )
    assert slowest == sorted(slowest, reverse=True)
    page.locator("#search").fill("app416_11")
    assert titles(page) == ["app416_11"]


def test_it_prints_in_light_colours_and_without_its_buttons(page: Page, pages: Pages, tmp_path: Path) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    page.goto(pages.run("report", "site", "late"))
    assert page.locator("nav").is_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf(path=tmp_path / "report.pdf").startswith(b"%PDF")


def test_a_run_that_broke_shows_what_was_at_work_and_what_was_not_reached(page: Page, pages: Pages) -> None:
    page.goto(pages.run("report", "site", "killed"))
    assert titles(page) == ["first", "kills its engine", "left", "last"]
    expect(page.locator(".row.open")).to_contain_text("It was running when the run broke.")
    page.locator("[data-filter=waiting]").click()
    assert titles(page) == ["left", "last"]
    expect(page.locator(".badge").first).to_have_text("not reached")


def test_a_run_without_states_says_so(page: Page, pages: Pages) -> None:
    page.goto(pages.run("report", "site", "empty"))
    expect(page.locator("#none")).to_have_text("The run had no states.")
    page.goto(pages.graph("site", "empty"))
    expect(page.locator("#panel")).to_contain_text("There are no states to draw.")
