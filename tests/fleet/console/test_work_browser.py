"""The pages of planned work in the real Chromium: flows by keyboard and mouse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="needs the browser")

from playwright.sync_api import Browser as Chromium
from playwright.sync_api import BrowserContext, Page, expect
from tests.fleet.api.kit import Running, add_chain_run, add_job, add_return, add_system
from tests.fleet.api.test_library import ALWAYS
from tests.fleet.console.in_browser import SCREEN, address, new_page, sign_in
from tests.fleet.console.kit import running_console

CHAIN = """\
chain: os-patch
actions:
  - id: drain
    command: lbctl drain
  - id: reboot
    reboot: {when: needed}
  - id: web
    state: web
"""


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("browser")
    with running_console(folder, host="127.0.0.1", port=0) as api:
        for name in ("web1", "web2", "web3", "db1"):
            add_system(api.database, name)
        add_system(api.database, "new1", accept=False)
        add_chain_run(api.database, "r1", "db1")
        with api.database.write() as connection:
            connection.exec_driver_sql("UPDATE chain_gates SET expires = 4e9")
        add_job(api.database, "j1", ("web1", "web2"), function="cmd.run", args=["uptime"])
        add_return(api.database, "j1", "web1", b'"up 3 days"')
        client = api.client()
        client.chains.save(CHAIN)
        client.windows.set("always", ALWAYS, target="db*")
        client.schedules.set("nightly", "os-patch", "30 2 * * *", target="web*")
        yield api


def enter(context: BrowserContext, console: Running, role: str) -> Page:
    """A page of someone who has signed in; a script that fails, or another host, fails the test."""
    return sign_in(new_page(context), console, role)


@pytest.fixture
def admin(chromium: Chromium, console: Running) -> Iterator[Page]:
    context = chromium.new_context(viewport=SCREEN)
    complaints: list[str] = []
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    context.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    context.on(
        "request", lambda one: None if one.url.startswith(address(console)) else complaints.append(one.url)
    )
    try:
        yield enter(context, console, "admin")
    finally:
        context.close()
    assert [one for one in complaints if "status of 4" not in one] == []


def names(page: Page) -> list[str]:
    return page.locator(".act b").all_text_contents()


def test_a_chain_is_built_by_keyboard_saved_and_run_in_two_waves(
    admin: Page,
    chromium: Chromium,
    console: Running,
) -> None:
    admin.goto(f"{address(console)}/chains")
    admin.get_by_role("button", name="New chain").press("Enter")
    admin.keyboard.type("by-keyboard")
    admin.keyboard.press("Enter")
    admin.wait_for_url("**/chains/by-keyboard/edit")
    for kind in ("command", "reboot", "wait"):
        admin.locator("body").press("a")
        admin.locator(f"details.add button[value='add {kind}']").press("Enter")
        expect(admin.locator(".act b").last).to_have_text(kind)
    expect(admin.locator(".act[aria-current=true]")).to_be_focused()
    admin.keyboard.press("Alt+ArrowUp")
    expect(admin.locator(".act b").nth(1)).to_have_text("wait")
    expect(admin.locator("#announce")).to_have_text("wait is now action 2 of 3")
    admin.keyboard.press("ArrowUp")
    expect(admin.locator("#form")).to_contain_text("command")
    admin.keyboard.press("Enter")
    expect(admin.locator("#p-id")).to_be_focused()
    admin.locator("#f-run").fill("echo built")
    admin.locator("#f-run").press("Tab")
    expect(admin.locator(".yaml-text")).to_have_value(re.compile("echo built"))
    admin.locator(".act").nth(2).click()
    expect(admin.locator("#form")).to_contain_text("reboot")
    admin.locator(".act").nth(2).press("Delete")
    expect(admin.locator(".act")).to_have_count(2)
    admin.keyboard.press("Control+z")
    expect(admin.locator(".act")).to_have_count(3)
    admin.locator(".act").nth(2).press("Delete")
    expect(admin.locator(".act")).to_have_count(2)
    admin.get_by_role("button", name="Save version 1").click()
    admin.wait_for_url("**/chains/by-keyboard?*")
    assert names(admin) == ["command", "wait"]
    kept = console.client().chains.text("by-keyboard")
    assert "echo built" in kept["text"] and "reboot" not in kept["text"]

    admin.fill("[name=target]", "web*")
    admin.keyboard.press("Enter")
    admin.fill("#r-w", "1 rest")
    admin.check("[name=gated]")
    admin.get_by_role("button", name="Run on 3 systems").click()
    admin.wait_for_url("**/runs/*")
    run = admin.url.partition("/runs/")[2].partition("?")[0]
    assert [one["systems"] for one in console.client().chain_runs.get(run)["waves"]] == [1, 2]

    context = chromium.new_context()
    try:
        approver = enter(context, console, "approver")
        approver.goto(f"{address(console)}/inbox")
        approver.get_by_role("link", name="by-keyboard version 1: may wave 2 begin").click()
        approver.fill("#v-c", "the first wave is fine")
        approver.get_by_role("button", name="Approve 2 systems").click()
        approver.wait_for_url("**/inbox?*")
    finally:
        context.close()
    (gate,) = console.client().chain_runs.get(run)["gates"]
    assert (gate["status"], [one["who"] for one in gate["votes"]]) == ("approved", ["approver"])


def test_the_text_and_the_list_are_kept_in_step(admin: Page, console: Running) -> None:
    admin.goto(f"{address(console)}/chains/os-patch/edit")
    box = admin.locator(".yaml-text")
    box.fill(CHAIN.replace("lbctl drain", "lbctl stop") + "  - {id: pause, wait: 2h}\n")
    expect(admin.locator("#b-flaws")).to_contain_text("os-patch.yaml:9")
    expect(admin.locator(".act")).to_have_count(4)
    expect(box).to_be_focused()
    admin.locator("#b-flaws").get_by_role("button", name="Write 7200").click()
    expect(admin.locator("#b-flaws")).to_contain_text("The text is valid")
    expect(box).to_have_value(re.compile("7200"))


def test_an_action_is_dragged(admin: Page, console: Running) -> None:
    admin.goto(f"{address(console)}/chains/os-patch/edit")
    rows = admin.locator("li[data-place]")
    expect(rows.first).to_have_attribute("draggable", "true")
    rows.nth(2).drag_to(rows.nth(0))
    expect(admin.locator(".act b").first).to_have_text("web")


def test_a_command_is_run(admin: Page, console: Running) -> None:
    admin.goto(f"{address(console)}/command")
    admin.fill("[name=target]", "web*")
    admin.fill("[name=run]", "test.ping")
    admin.keyboard.press("Enter")
    admin.get_by_role("button", name="Run on 3 systems …").click()
    admin.get_by_role("button", name="Run on 3 systems", exact=True).click()
    admin.wait_for_url("**/jobs/*")
    expect(admin.locator("h1")).to_have_text("test.ping")
    expect(admin.get_by_text("Not answered: 3")).to_be_visible()


def test_a_key_is_accepted_after_its_fingerprint_was_seen(admin: Page, console: Running) -> None:
    admin.goto(f"{address(console)}/admin")
    admin.get_by_role("button", name="Accept …").click()
    dialog = admin.locator("dialog[open]")
    expect(dialog).to_contain_text("SHA256:new1")
    dialog.get_by_role("button", name="Accept").click()
    admin.wait_for_url("**/admin?*")
    assert console.client().systems.get("new1")["state"] == "accepted"
    admin.goto(f"{address(console)}/admin?state=accepted")
    admin.locator("tr", has_text="new1").get_by_role("button", name="Revoke …").click()
    dialog = admin.locator("dialog[open]")
    sure = dialog.get_by_role("button", name="Revoke")
    expect(sure).to_be_disabled()
    dialog.locator("[name=typed]").fill("1")
    dialog.locator("[name=reason]").fill("it was stolen")
    sure.click()
    admin.wait_for_url("**/admin?*did=*")
    assert console.client().systems.get("new1")["state"] == "revoked"
