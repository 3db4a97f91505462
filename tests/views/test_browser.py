"""The pages in a real browser: drawn, searched, clicked, driven by keys, in light and in dark."""

from __future__ import annotations

from pathlib import Path

from tests.views.browser import Page
from tests.views.trees import many, saltern

BACKGROUND = "getComputedStyle(document.body).backgroundColor"


def graph(place: Path, tree: Path, *words: str) -> Path:
    file = place / "graph.html"
    assert saltern("graph", *words, "--file-root", str(tree), "-o", str(file)) == 0
    return file


def report(place: Path, tree: Path, *words: str) -> Path:
    saltern("apply", *words, "--file-root", str(tree), "--out", "quiet")
    file = place / "report.html"
    assert saltern("report", "--html", "-o", str(file), "--file-root", str(tree)) == 0
    return file


def test_a_click_on_a_state_shows_its_line_and_why_it_runs_there(
    page: Page, site: Path, tmp_path: Path
) -> None:
    page.open(graph(tmp_path, site, "web"))
    page.click('[data-key="4"]')  # package: the fifth in the order of definition
    told = page.text("#panel")
    assert told.startswith("package\n")
    assert "Runs as number 4 of 6." in told
    assert f"{site}/web.sls:17" in told
    assert "package:\n  test.succeed_without_changes: []" in told
    assert "pulled forward by require of test.nop 'service'" in told


def test_a_relation_leads_to_the_other_state(page: Page, site: Path, tmp_path: Path) -> None:
    page.open(graph(tmp_path, site, "web"))
    page.click('[data-key="4"]')
    page.click("#panel .link")
    assert page.text("#panel h2") == "service"
    assert page.count(".node.near") > 2


def test_the_search_finds_and_enter_goes_there(page: Page, tmp_path: Path) -> None:
    page.open(graph(tmp_path, many(tmp_path / "states", 504)))
    page.press("/")
    page.write("app17_")
    assert page.text("#matches") == "12 found"
    page.press("Enter")
    assert page.text("#matches") == "1 of 12"
    box = page.run("document.querySelector('.selected').getBoundingClientRect().toJSON()")
    assert box["left"] > 0 and box["right"] < 1400 and box["top"] > 0 and box["bottom"] < 900
    assert box["height"] > 25  # large enough to be read


def test_keys_walk_the_order_zoom_and_let_go(page: Page, site: Path, tmp_path: Path) -> None:
    page.open(graph(tmp_path, site, "web"))
    for _ in range(3):
        page.press("ArrowRight")
    assert page.text("#panel h2") == "config"
    before = page.run("document.getElementById('graph').viewBox.baseVal.width")
    page.press("+")
    assert page.run("document.getElementById('graph').viewBox.baseVal.width") < before
    page.press("o")
    assert page.count("#orderline") == 1
    page.press("Escape")
    assert page.count(".selected") == 0


def test_a_kind_of_requisite_can_be_hidden(page: Page, site: Path, tmp_path: Path) -> None:
    page.open(graph(tmp_path, site, "web"))
    page.click("#legend .e-watch")
    assert page.run("getComputedStyle(document.querySelector('#graph .e-watch')).display") == "none"


def test_names_are_never_read_as_html(page: Page, site: Path, tmp_path: Path) -> None:
    page.open(graph(tmp_path, site, "late"))
    page.press("ArrowRight")
    assert page.text("#panel h2") == "/tmp/x-<b>&\"'"
    assert page.count("#panel b") == 0


def test_pages_follow_the_system_and_the_button(page: Page, site: Path, tmp_path: Path) -> None:
    for file in (graph(tmp_path, site, "web"), report(tmp_path, site, "late")):
        page.open(file, dark=True)
        assert page.run(BACKGROUND) == "rgb(20, 23, 28)"
        page.click("#theme")
        assert page.run(BACKGROUND) == "rgb(255, 255, 255)"
        page.open(file)
        assert page.run(BACKGROUND) == "rgb(255, 255, 255)"


def test_a_page_asks_for_nothing_else(page: Page, site: Path, tmp_path: Path) -> None:
    for file in (graph(tmp_path, site, "web"), report(tmp_path, site, "late")):
        page.open(file)
        assert page.run("performance.getEntriesByType('resource').length") == 0


def test_the_report_shows_states_frames_and_steps_as_a_tree(page: Page, site: Path, tmp_path: Path) -> None:
    page.open(report(tmp_path, site, "late"))
    titles = page.run(
        "[...document.querySelectorAll('.row')].map((row) => row.querySelector('.title').innerText)"
    )
    assert titles[1:4] == ["block accounts", "first account", "second account"]
    assert titles[-3:] == ["steps", "one step", "two"]
    levels = page.run(
        "[...document.querySelectorAll('.lead')].map((one) => one.style.getPropertyValue('--level'))"
    )
    assert levels[:4] == ["0", "1", "2", "2"]
    assert levels[-3:] == ["0", "1", "1"]


def test_failures_are_open_and_filters_leave_what_fits(page: Page, site: Path, tmp_path: Path) -> None:
    page.open(report(tmp_path, site, "late"))
    assert page.count(".row.open") == 2
    page.click('[data-filter="failed"]')
    assert page.count(".row") == 2
    assert page.text("#count") == "2 of 6 states"
    page.press("Escape")
    assert page.count(".row") == 9


def test_a_diff_is_coloured_and_old_and_new_stand_below_each_other(
    page: Page, site: Path, tmp_path: Path
) -> None:
    page.open(report(tmp_path, site, "late"))
    page.press("e")
    added = page.run("[...document.querySelectorAll('.sub .diff .add')].map((one) => one.innerText)")
    assert added == ["+ 443", "+y"]
    assert page.count(".sub .diff .remove") == 2


def test_the_report_is_walked_with_keys(page: Page, site: Path, tmp_path: Path) -> None:
    page.open(report(tmp_path, site, "late"))
    page.press("n")
    assert page.run("document.activeElement.querySelector('.title').innerText") == "broken"
    page.press("Enter")
    assert page.run("document.activeElement.getAttribute('aria-expanded')") == "false"
    page.press("j")
    assert page.run("document.activeElement.querySelector('.title').innerText") == "blocked"


def test_a_report_of_five_hundred_states_is_sorted_by_their_time(
    page: Page, tmp_path: Path, site: Path
) -> None:
    page.open(report(tmp_path, many(tmp_path / "many", 504)))
    assert page.count(".row") == 504
    page.run("sort.value = 'slow'; sort.dispatchEvent(new Event('input'))")
    slowest = page.run(
        "[...document.querySelectorAll('.line')].slice(0, 9).map((one) => rows[one.dataset.row].took)"
    )
    assert slowest == sorted(slowest, reverse=True)
    bar = page.run("document.querySelector('.time i').getBoundingClientRect().width")
    assert bar >= 3
