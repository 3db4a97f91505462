"""The buttons of runs, legs and jobs follow what is possible; the output panel gives the focus back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs the browser")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect
from tests.fleet.api.kit import Running, add_chain_run
from tests.fleet.api.test_permission import POLICY
from tests.fleet.console.data import demo
from tests.fleet.console.in_browser import address, sign_in
from tests.fleet.console.kit import Browser, running_console

from saltern.chains.statuses import Leg, Run
from saltern.fleet.console.views.offers import NOT_ALLOWED, OVER, job_offers, leg_offers, run_offers

RUN, LEG, FAILED = "20261116024712000002", "web-0016.fra", "api-0002.ber"
LATER = "only what failed or is paused can be retried; it is pending"


@pytest.fixture
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_console(tmp_path_factory.mktemp("orders"), host="127.0.0.1", port=0) as running:
        demo(running.database, time.time())
        yield running


def enter(page: Page, console: Running, path: str, name: str = "admin") -> None:
    """Sign in, open a page, and wait until it is live."""
    sign_in(page, console, name)
    page.goto(address(console) + path)
    expect(page.locator(".live")).to_have_attribute("data-state", "live")


def order(page: Page, name: str) -> Locator:
    return page.locator(f"[data-order={name}]")


def test_pause_and_resume_change_places_without_a_reload_and_the_focus_follows(
    page: Page, console: Running
) -> None:
    enter(page, console, f"/runs/{RUN}")
    page.evaluate("window.same = true")
    order(page, "pause").focus()
    console.client().chain_runs.order(RUN, "pause")
    expect(order(page, "resume")).to_be_visible()
    expect(order(page, "resume")).to_be_enabled()
    expect(order(page, "resume")).to_be_focused()
    expect(order(page, "pause")).to_be_hidden()
    page.keyboard.press("Enter")
    page.wait_for_url("**did=*")
    assert console.client().chain_runs.get(RUN)["status"] == "running"


def test_numbers_follow_and_an_ended_run_takes_no_order(page: Page, console: Running) -> None:
    """A system that is retried is one more to cancel; a dialog opens with the newest number."""
    enter(page, console, f"/runs/{RUN}")
    page.evaluate("window.same = true")
    expect(order(page, "retry")).to_have_text("Retry all 6 …")
    console.client().chain_runs.order(RUN, "retry", systems=[FAILED])
    expect(order(page, "retry")).to_have_text("Retry all 5 …")
    order(page, "cancel").click()
    expect(page.locator("#cancel .sure")).to_have_text("Cancel on 11 systems")
    expect(page.locator("#cancel .sure")).to_be_disabled()
    page.fill("#cancel-n", "11")
    page.fill("#cancel-r", "enough")
    console.client().chain_runs.order(RUN, "cancel")
    expect(order(page, "cancel")).to_be_disabled()
    expect(order(page, "cancel")).to_have_attribute("title", "the run is being cancelled")
    expect(order(page, "pause")).to_be_disabled()
    expect(page.locator("#cancel .sure"), "what is being read stays").to_have_text("Cancel on 11 systems")
    assert page.evaluate("window.same") is True


def test_a_cause_is_retried_by_its_own_button_although_the_list_has_changed(
    page: Page, console: Running
) -> None:
    enter(page, console, f"/runs/{RUN}")
    console.client().chain_runs.order(RUN, "retry", systems=[FAILED])
    expect(order(page, "retry")).to_have_text("Retry all 5 …")
    row = page.locator("#part-run-causes tr", has_text="404 Not Found")
    row.get_by_role("button").click()
    dialog = page.locator("#cause")
    expect(dialog).to_contain_text("Unable to fetch")
    expect(dialog.locator(".sure")).to_have_text("Retry 4 systems")
    dialog.locator(".sure").click()
    page.wait_for_url("**did=*")
    legs = {one["system"]: one["status"] for one in console.client().chain_runs.get(RUN)["legs"]}
    assert [legs[f"web-00{n}.fra"] for n in (15, 16, 17, 18)] == ["pending"] * 4
    assert legs["api-0001.ber"] == "indeterminate"


def test_the_buttons_of_a_leg_follow_it(page: Page, console: Running) -> None:
    enter(page, console, f"/runs/{RUN}/{LEG}")
    page.evaluate("window.same = true")
    expect(order(page, "skip")).to_have_text("Skip patch …")
    expect(order(page, "cancel")).to_be_hidden()
    console.client().chain_runs.order(RUN, "retry", systems=[LEG])
    expect(order(page, "cancel")).to_be_visible()
    expect(order(page, "pause")).to_be_visible()
    expect(order(page, "retry")).to_be_disabled()
    expect(order(page, "retry")).to_have_attribute("title", LATER)
    expect(page.locator("#part-leg-journal")).to_contain_text("pending")
    assert page.evaluate("window.same") is True


def test_who_may_not_order_has_buttons_that_stay_off(page: Page, console: Running) -> None:
    enter(page, console, f"/runs/{RUN}", "viewer")
    expect(order(page, "pause")).to_be_disabled()
    console.client().chain_runs.order(RUN, "pause")
    expect(order(page, "resume")).to_be_visible()
    expect(order(page, "resume")).to_be_disabled()
    expect(order(page, "resume")).to_have_attribute("title", NOT_ALLOWED)


def test_a_job_that_has_ended_cannot_be_stopped(page: Page, console: Running) -> None:
    agent = console.agent("live1")
    jid = console.client().jobs.submit("test.ping", "live1")["jid"]
    enter(page, console, f"/jobs/{jid}")
    expect(order(page, "stop")).to_be_enabled()
    console.run(agent.give(jid))
    console.run(console.bench.index())
    expect(order(page, "stop")).to_be_disabled()
    expect(order(page, "stop")).to_have_attribute("title", "it has ended on every system")


def test_a_voter_is_told_that_a_gate_was_decided_meanwhile(page: Page, console: Running) -> None:
    add_chain_run(console.database, "r1", LEG)
    with console.database.write() as connection:
        connection.exec_driver_sql("UPDATE chain_gates SET expires = 4e9")
    enter(page, console, "/inbox/gate/r1/run", "approver")
    page.fill("#v-c", "half a sentence")
    mark = page.locator("#part-list-mark").get_attribute("data-hash")
    assert (
        mark
        and mark in page.request.get(page.url.replace("inbox/gate/r1/run", "parts?topics=gates/r1")).text()
    )
    expect(page.locator("#changed")).to_be_hidden()
    console.client().chain_runs.vote("r1", "run", approves=True, plan_sha256="")
    expect(page.locator("#changed")).to_contain_text("it has changed: show it")
    expect(page.locator("#v-c"), "what is being written stays").to_have_value("half a sentence")
    assert Axe().run(page).response["violations"] == []
    page.locator("#changed button").click()
    expect(page.locator("h1 + *")).to_contain_text("approved, 1 of 1")


def test_a_request_is_counted_at_once_and_its_page_says_that_it_was_decided(
    page: Page, console: Running
) -> None:
    console.client().policy.set(POLICY)
    operator, other = Browser(console), Browser(console)
    operator.sign_in("operator")
    other.sign_in("admin")
    enter(page, console, "/inbox", "approver")
    ask = {"run": "state.apply web", "target": LEG, "count": "1"}
    before = page.locator("#part-inbox-count").inner_text()
    operator.act("/account", "/command/run", ask)
    expect(page.locator("#part-inbox-count")).to_contain_text(str(int(before or 0) + 1))
    (one,) = console.client().approvals.list()
    where = f"/inbox/request/{one['id']}"
    page.goto(page.url.partition("/inbox")[0] + where)
    expect(page.locator(".live")).to_have_attribute("data-state", "live")
    expect(page.locator("#changed")).to_be_hidden()
    assert other.act(where, f"{where}/approve", {"count": "1"}).status == 303
    expect(page.locator("#changed")).to_contain_text("it has changed: show it")


@pytest.mark.parametrize("way", ["Escape in it", "Escape on the cell", "its button"])
def test_the_output_panel_is_closed_and_the_focus_is_back_on_its_cell(
    page: Page, console: Running, way: str
) -> None:
    enter(page, console, f"/runs/{RUN}")
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    expect(page.locator("#drawer .log")).to_contain_text("404 Not Found")
    if way == "Escape in it":
        page.locator("#drawer .log").focus()
    if way == "its button":
        page.get_by_role("button", name="Close the output").press("Enter")
    else:
        page.keyboard.press("Escape")
    expect(page.locator("#drawer .log")).to_have_count(0)
    expect(page.locator("#drawer")).to_contain_text("Choose a cell")
    expect(page.locator(".matrix .c:focus")).to_have_class("c failed")
    expect(page.locator("[aria-selected]")).to_have_count(0)
    assert page.url.endswith(RUN), "it is not the way back"
    page.keyboard.press("Enter")
    expect(page.locator("#drawer .log")).to_contain_text("404 Not Found")


def test_escape_first_empties_the_search_of_the_panel(page: Page, console: Running) -> None:
    enter(page, console, f"/runs/{RUN}")
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    field = page.locator("#drawer [name=find]")
    field.fill("mirror")
    field.press("Escape")
    expect(field).to_have_value("")
    field.press("Escape")
    expect(page.locator("#drawer .log")).to_have_count(0)
    expect(page.locator(".matrix .c:focus")).to_have_class("c failed")


def test_the_panel_finds_its_cell_again_in_a_matrix_that_was_replaced(page: Page, console: Running) -> None:
    enter(page, console, f"/runs/{RUN}")
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    expect(page.locator("#drawer .log")).to_contain_text("404 Not Found")
    page.locator("#drawer .log").focus()
    console.client().chain_runs.order(RUN, "retry", systems=[FAILED])
    expect(page.locator(".matrix tr", has_text=FAILED)).to_contain_text("pending")
    expect(page.locator(".matrix td[aria-selected]")).to_have_class("c failed")
    page.keyboard.press("Escape")
    expect(page.locator(".matrix .c:focus")).to_have_class("c failed")


# -- the rules --------------------------------------------------------------------------------------------


def run_in(status: Run, **legs: int) -> Any:
    return {"status": status.value, "legs": legs, "why": ""}


def states(offers: list[Any]) -> dict[str, str]:
    return {one["order"]: one["state"] for one in offers}


@pytest.mark.parametrize("status", Run)
def test_every_status_of_a_run_has_its_orders_and_what_is_off_says_why(status: Run) -> None:
    offers = run_offers(run_in(status, running=2, failed=1))
    assert all(one["why_not"] for one in offers if one["state"] == "off")
    found = states(offers)
    assert sum(found[one] != "away" for one in ("pause", "resume", "resume-halted")) == 1
    assert (found["pause"] == "on") == (status is Run.RUNNING)
    assert (found["resume"] == "on") == (status is Run.PAUSED)
    assert (found["resume-halted"] == "on") == (status is Run.HALTED)


@pytest.mark.parametrize("status", Leg)
@pytest.mark.parametrize("quarantined", [False, True])
def test_a_leg_is_retried_only_if_it_takes_that(status: Leg, quarantined: bool) -> None:
    steps = [{"action": "a", "status": "succeeded"}, {"action": "b", "status": "failed"}]
    leg = {"status": status.value, "quarantined": quarantined, "away": False, "steps": steps}
    found = states(leg_offers(leg))
    again = status in (Leg.FAILED, Leg.CANCELLED, Leg.EXPIRED, Leg.INDETERMINATE, Leg.PAUSED)
    assert {found[one] for one in ("retry", "skip", "done")} == {"on" if again and not quarantined else "off"}
    assert found["release"] == ("on" if quarantined else "off")


@pytest.mark.parametrize("status", Leg)
def test_only_a_system_that_is_away_is_waited_for_no_longer(status: Leg) -> None:
    leg: Any = {"status": status.value, "quarantined": False, "steps": []}
    found = {away: states(leg_offers({**leg, "away": away}))["unlock"] for away in (False, True)}
    assert found == {False: "away", True: "off" if status.value in OVER else "on"}


def test_the_step_that_is_looked_at_is_skipped_if_it_failed() -> None:
    steps = [{"action": one, "status": "failed"} for one in "abc"]
    leg = {"status": "failed", "quarantined": False, "away": False, "steps": steps}
    skips = {one: leg_offers(leg, one)[1]["fills"]["action"] for one in ("", "b", "x")}
    assert skips == {"": "a", "b": "b", "x": "a"}


def test_a_job_without_open_systems_cannot_be_stopped() -> None:
    assert [states(job_offers({"open": number}))["stop"] for number in (0, 3)] == ["off", "on"]


def test_an_order_that_changes_nothing_says_why(console: Running) -> None:
    boss = Browser(console)
    boss.sign_in("admin")
    again = boss.act(f"/runs/{RUN}", f"/runs/{RUN}/web-0001.fra/orders", {"verb": "retry", "count": "1"})
    assert again.status == 409
    assert "it has succeeded" in again.text and "console-no-change" in again.text
    ended = boss.act(f"/runs/{RUN}", "/runs/20261116004712000001/orders", {"verb": "pause"})
    assert ended.status == 409 and "not in a state for it" in ended.text
