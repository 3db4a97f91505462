"""The console in a real browser: keys, live parts, dialogs, and no script."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

pytest.importorskip("playwright", reason="needs playwright")

from playwright.sync_api import Browser, Page, Route, expect
from tests.fleet.api.kit import Running
from tests.fleet.console.data import demo
from tests.fleet.console.in_browser import SCREEN, address, new_page, sign_in
from tests.fleet.console.kit import running_console

from saltern.fleet.store.events import NewEvent, store_events

RUN = "20261116024712000002"


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_console(tmp_path_factory.mktemp("browser"), host="127.0.0.1", port=0) as running:
        demo(running.database, time.time())
        yield running


@pytest.fixture
def page(chromium: Browser, busy: Running) -> Iterator[Page]:
    """A page of an admin. What its scripts complain of, and what is asked of another host, fails the test."""
    page = new_page(chromium.new_context(viewport=SCREEN))
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("request", lambda one: None if one.url.startswith(address(busy)) else complaints.append(one.url))
    sign_in(page, busy)
    yield page
    page.context.close()
    assert complaints == []


def test_keys_lead_through_the_pages(page: Page) -> None:
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/systems")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("tr:focus a").first).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/systems/*")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.locator("#keys-on").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(page.locator("#jump")).not_to_be_focused()
    page.evaluate("localStorage.keys = 'on'")
    page.keyboard.press("/")
    expect(page.locator("#jump")).to_be_focused()
    page.keyboard.type("web-0016.fra")
    page.keyboard.press("Enter")
    page.wait_for_url("**/systems/web-0016.fra")


def test_a_cell_of_the_matrix_opens_its_output(page: Page, busy: Running) -> None:
    page.goto(f"{address(busy)}/runs/{RUN}")
    page.keyboard.press("n")
    expect(page.locator(".matrix .c:focus")).to_have_class("c failed")
    page.keyboard.press("Enter")
    expect(page.locator("#drawer .log")).to_contain_text("404 Not Found")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".matrix .c:focus")).to_have_class("c changed")


def test_the_past_is_reached_with_a_key_and_left_with_another(page: Page, busy: Running) -> None:
    page.goto(f"{address(busy)}/runs/{RUN}")
    page.keyboard.press("[")
    page.wait_for_url("**at=*")
    expect(page.locator("#past")).to_contain_text("nothing can be done from here")
    page.keyboard.press("l")
    page.wait_for_url(f"**/runs/{RUN}")


def test_a_page_is_live_and_a_dialog_wants_the_number(page: Page, busy: Running) -> None:
    page.goto(f"{address(busy)}/runs/{RUN}")
    expect(page.locator(".live")).to_have_attribute("data-state", "live")
    page.click("[data-open=cancel]")
    sure = page.locator("#cancel .sure")
    expect(sure).to_be_disabled()
    page.fill("#cancel-n", "9")
    expect(sure).to_be_disabled()
    page.fill("#cancel-n", "10")
    page.fill("#cancel-r", "wrong target")
    expect(sure).to_be_enabled()


def test_what_happens_is_added_to_the_page(page: Page, busy: Running) -> None:
    page.goto(f"{address(busy)}/runs/{RUN}")
    expect(page.locator(".live")).to_have_attribute("data-state", "live")
    with busy.database.write() as connection:
        data = {"run": RUN, "status": "running", "why": "a leap second"}
        store_events(connection, [NewEvent(tag=f"saltern/chain/{RUN}/status", data=data, at=time.time())])
    expect(page.locator("#part-run-moments")).to_contain_text("a leap second")


def test_a_pause_is_given_and_taken_back(page: Page, busy: Running) -> None:
    page.goto(f"{address(busy)}/runs/{RUN}")
    page.get_by_role("button", name="Pause", exact=True).click()
    page.wait_for_url("**did=*")
    expect(page.locator("main")).to_contain_text("The order is given")
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()


def test_a_lost_stream_is_shown_and_turns_actions_off_until_it_is_back(
    chromium: Browser, busy: Running
) -> None:
    """The clock of the page is moved by hand: ten seconds without a word are late."""
    context = chromium.new_context()
    page = new_page(context)
    try:
        sign_in(page, busy)
        page.clock.install()
        for path in ("stream", "parts"):
            page.route(f"**/{path}?*", lambda route: route.abort())
        page.goto(f"{address(busy)}/runs/{RUN}")
        expect(page.locator("#stale")).to_be_hidden()
        page.clock.run_for(12_000)
        expect(page.locator("#stale")).to_contain_text("cannot act")
        expect(page.locator("#stale")).to_contain_text("8 are at work and have their whole plan")
        expect(page.get_by_role("button", name="Pause", exact=True)).to_have_attribute(
            "aria-disabled", "true"
        )
        expect(page.locator(".live")).to_have_attribute("data-state", "late")
        writes: list[str] = []
        page.on("request", lambda one: writes.append(one.url) if one.method == "POST" else None)
        page.get_by_role("button", name="Pause", exact=True).click(force=True)
        page.get_by_role("button", name="Cancel …").press("Enter")
        expect(page.locator("#cancel")).to_be_hidden()
        page.unroute("**/stream?*")
        page.clock.run_for(16_000)
        expect(page.locator(".live")).to_have_attribute("data-state", "live")
        expect(page.locator("#stale")).to_be_hidden()
        assert writes == []
    finally:
        context.close()


def test_a_page_without_a_stream_asks_every_ten_seconds_says_so_and_acts(
    chromium: Browser, busy: Running
) -> None:
    context = chromium.new_context()
    page = new_page(context)
    try:
        sign_in(page, busy)
        page.clock.install()
        page.route("**/stream?*", lambda route: route.fulfill(status=429))
        page.goto(f"{address(busy)}/runs/{RUN}")
        page.clock.run_for(9_000)
        expect(page.locator(".live")).to_have_attribute("data-state", "polled")
        expect(page.locator(".live")).to_contain_text("every 10 s")
        with busy.database.write() as connection:
            data = {"run": RUN, "status": "running", "why": "read without a stream"}
            store_events(connection, [NewEvent(tag=f"saltern/chain/{RUN}/status", data=data, at=time.time())])
        moments = page.locator("#part-run-moments")
        for _ in range(8):
            page.clock.run_for(11_000)
            if "read without a stream" in (moments.text_content() or ""):
                break
            time.sleep(1)  # what was rendered is shared for some seconds of the controller's clock
        expect(moments).to_contain_text("read without a stream")
        expect(page.locator("#stale")).to_be_hidden()
    finally:
        context.close()


def test_the_line_that_sums_a_page_up_is_read_aloud_when_it_changes(page: Page, busy: Running) -> None:
    page.goto(f"{address(busy)}/runs/{RUN}")
    expect(page.locator(".live")).to_have_attribute("data-state", "live")
    busy.client().chain_runs.order(RUN, "pause")
    expect(page.locator("#announce")).to_contain_text("paused")
    busy.client().chain_runs.order(RUN, "resume")


def test_what_takes_long_has_grey_bars_and_then_its_output(page: Page, busy: Running) -> None:
    held: list[Route] = []
    page.route("**/output?*", lambda route: held.append(route))
    page.goto(f"{address(busy)}/runs/{RUN}")
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    expect(page.locator("#drawer .bars")).to_be_visible()
    held[0].continue_()
    expect(page.locator("#drawer .log")).to_contain_text("404 Not Found")


def test_pages_are_read_without_a_script(chromium: Browser, busy: Running) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    try:
        sign_in(page, busy, "viewer")
        page.goto(f"{address(busy)}/runs/{RUN}")
        expect(page.locator("main")).to_contain_text("Why 6 systems stand still")
        assert "does not follow" in page.content()
        page.click("text=web-0015.fra")
        expect(page.locator(".log")).to_contain_text("404 Not Found")
    finally:
        context.close()
