"""The console with the keyboard alone: every control of every page, every dialog, and the usual ways."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs the browser")

from playwright.sync_api import Dialog, Page, expect
from tests.fleet.api.kit import Running
from tests.fleet.console.everything import LEG, PARTS, RUN, add_everything, all_names, page_paths
from tests.fleet.console.in_browser import address
from tests.fleet.console.kit import PASSWORD, running_console

# Marks what a mouse could use: each with a number. Of radio buttons, arrows reach the others.
NUMBER = """() => {
    const kinds = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'
    const all = [...document.querySelectorAll(kinds)]
    const usable = all.filter(one => !one.disabled && one.tabIndex >= 0 && one.type !== 'hidden'
        && one.checkVisibility({visibilityProperty: true}) && (one.type !== 'radio' || one.checked))
    usable.forEach((one, number) => { one.dataset.walk = number })
    return usable.map(one => one.outerHTML.slice(0, 160))
}"""
FOCUSED = """() => {
    const here = document.activeElement, style = getComputedStyle(here)
    return [here.dataset.walk ?? '', style.outlineStyle !== 'none' || style.boxShadow !== 'none']
}"""
SAID = "() => (document.activeElement.ariaLabel || document.activeElement.innerText || '').trim()"
STEPS = 400  # presses of Tab after which something is out of reach


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_console(tmp_path_factory.mktemp("keys"), host="127.0.0.1", port=0) as running:
        add_everything(running)
        running.agent("live1")
        yield running


def open_page(page: Page, console: Running, path: str) -> None:
    page.goto(address(console) + path)


def sign_in(page: Page, console: Running, name: str) -> None:
    """As the page has it: the first field has the focus, Tab leads to the next."""
    open_page(page, console, "/sign-in")
    tab_to(page, "#u")
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"http://127.0.0.1:{console.server.port}/")


def tab_to(page: Page, where: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(STEPS):
        if page.evaluate("where => document.activeElement.matches(where)", where):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{where} is not reached on {page.url}")


def tab_to_text(page: Page, text: str) -> None:
    """Press Tab until something that says this has the focus."""
    for _ in range(STEPS):
        if re.search(text, page.evaluate(SAID)):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{text!r} is not reached on {page.url}")


def walk(page: Page) -> list[str]:
    """What Tab does not reach on a page, or reaches without showing it."""
    usable: list[str] = page.evaluate(NUMBER)
    left, unseen = set(range(len(usable))), set()
    for _ in range(len(usable) + 20):
        page.keyboard.press("Tab")
        number, is_shown = page.evaluate(FOCUSED)
        if number:
            left.discard(int(number))
            unseen |= set() if is_shown else {int(number)}
        if not left:
            break
    return [f"not reached: {usable[one]}" for one in left] + [f"not shown: {usable[one]}" for one in unseen]


def test_tab_reaches_and_shows_every_control_of_every_page(page: Page, console: Running) -> None:
    sign_in(page, console, "admin")
    wrong: dict[str, Any] = {}
    for path in page_paths(all_names(console)):
        if not path.endswith(PARTS):
            open_page(page, console, path)
            found = walk(page) and walk(page)  # a live part may have been replaced meanwhile
            wrong |= {path: found[:4]} if found else {}
    assert wrong == {}


def test_every_dialog_opens_holds_the_focus_and_gives_it_back(page: Page, console: Running) -> None:
    sign_in(page, console, "admin")
    seen = 0
    for path in page_paths(all_names(console)):
        if path.endswith(PARTS):
            continue
        open_page(page, console, path)
        names = page.locator("[data-open]:visible:enabled").evaluate_all(
            "all => all.map(o => o.dataset.open)"
        )
        for name in dict.fromkeys(names):
            seen += 1
            opener = f"[data-open='{name}']"
            page.locator(opener).first.focus()
            page.keyboard.press("Enter")
            expect(page.locator(f"#{name}"), path).to_be_visible()
            for _ in range(4):
                page.keyboard.press("Tab")
                inside = "name => document.activeElement === document.body"
                inside += " || !!document.activeElement.closest('#' + name)"
                assert page.evaluate(inside, name), (
                    path,
                    name,
                    page.evaluate("document.activeElement.outerHTML"),
                )
            page.keyboard.press("Escape")
            expect(page.locator(f"#{name}"), path).to_be_hidden()
            assert page.evaluate("where => document.activeElement.matches(where)", opener), (path, name)
    assert seen > 10, seen


def test_a_system_is_found_and_its_run_is_read(page: Page, console: Running) -> None:
    sign_in(page, console, "viewer")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/systems")
    tab_to(page, "[name=t]")
    page.keyboard.type("web-0016*")
    page.keyboard.press("Enter")
    page.wait_for_url("**/systems?t=web-0016*")
    expect(page.locator("#list")).to_have_text("1 system")
    tab_to_text(page, f"^{LEG}$")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/systems/{LEG}")
    tab_to(page, f"a[href^='/runs/{RUN}']")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{RUN}/{LEG}")


def test_an_output_is_opened_from_the_matrix_and_read(page: Page, console: Running) -> None:
    sign_in(page, console, "viewer")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/runs")
    tab_to(page, f"a[href='/runs/{RUN}']")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{RUN}")
    tab_to(page, ".matrix .c")
    page.keyboard.press("n")
    expect(page.locator(".matrix .c:focus")).to_have_class(re.compile("failed"))
    page.keyboard.press("Enter")
    expect(page.locator("#drawer .log")).to_contain_text("404 Not Found")
    tab_to(page, "#drawer a")
    page.keyboard.press("Tab")
    tab_to(page, "#drawer .log")


def test_what_waits_is_approved(page: Page, console: Running) -> None:
    sign_in(page, console, "approver")
    page.keyboard.press("g")
    page.keyboard.press("i")
    page.wait_for_url("**/inbox")
    tab_to(page, "a[href='/inbox/gate/r1/run']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/inbox/gate/r1/run")
    tab_to(page, "#v-c")
    page.keyboard.type("looked at it")
    tab_to_text(page, "^Approve")
    page.keyboard.press("Enter")
    page.wait_for_url("**/inbox?*")
    votes = console.client().chain_runs.get("r1")["gates"][0]["votes"]
    assert [(one["who"], one["why"]) for one in votes] == [("approver", "looked at it")]


def test_a_chain_is_built_planned_and_saved(page: Page, console: Running) -> None:
    """The builder: an action is added, its plan is asked for in a dialog, and the version is saved."""
    asked: list[str] = []

    def accept(one: Dialog) -> None:
        asked.append(one.type)
        one.accept()

    page.on("dialog", accept)
    sign_in(page, console, "admin")
    page.keyboard.press("g")
    page.keyboard.press("c")
    page.wait_for_url("**/chains")
    tab_to_text(page, "^New chain")
    page.keyboard.press("Enter")
    page.keyboard.type("typed")
    page.keyboard.press("Enter")
    page.wait_for_url("**/chains/typed/edit")
    page.keyboard.press("a")
    tab_to(page, "details.add button[value='add command']")
    page.keyboard.press("Enter")
    expect(page.locator(".act[aria-current=true]")).to_be_focused()
    page.keyboard.press("Enter")
    tab_to(page, "#f-run")
    page.keyboard.press("Control+a")
    page.keyboard.type("true")
    page.keyboard.press("Tab")
    expect(page.locator(".yaml-text")).to_have_value(re.compile("run: .?true"))
    tab_to(page, "[data-open=plan-draft]")
    page.keyboard.press("Enter")
    tab_to(page, "#plan-draft [name=target]")
    page.keyboard.press("Control+a")
    page.keyboard.type("live*")
    page.keyboard.press("Enter")
    expect(page.locator("#plan-draft .sure")).to_have_text("Plan on 1 system")
    tab_to(page, "#plan-draft .sure")
    page.keyboard.press("Enter")
    page.wait_for_url("**/plans/*")
    expect(page.locator("h1")).to_contain_text("typed")
    assert console.client().chains.get("typed")["version"] == 1
    assert asked == [], "nothing is lost, and so the browser does not ask"
