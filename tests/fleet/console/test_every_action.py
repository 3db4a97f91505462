"""Every action of the console, given in the real Chromium; one that no walk gives fails the test."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

import pytest

pytest.importorskip("playwright", reason="needs the browser")

from axe_playwright_python.sync_playwright import Axe
from msgspec import json
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import ConsoleMessage, Locator, Response, expect
from sqlalchemy import select, update
from tests.fleet.api.kit import Running, add_system
from tests.fleet.console.data import add_fleet, add_run
from tests.fleet.console.everything import RUN, add_everything
from tests.fleet.console.in_browser import SCREEN, address, new_page
from tests.fleet.console.kit import PASSWORD, Browser, running_console
from tests.fleet.controller.kit import LightAgent

from saltern.chains.statuses import Leg, Run
from saltern.fleet.console.act import ACTS
from saltern.fleet.console.views.offers import leg_offers, run_offers
from saltern.fleet.store.chain_tables import CHAIN_LEGS, CHAIN_PLANS

ORDERS = {"run": "/runs/{run}/orders", "leg": "/runs/{run}/{system}/orders"}
DOORS = ("/sign-in", "/sign-in/link", "/sign-out")
PATHS = (*(one.path for one in ACTS), *DOORS)
CHAIN = "chain: walked\nactions:\n  - {id: a, command: 'true'}\n"
# A run with a system for each order about one: its steps, and its status.
LEGS = {
    "retry": ("cfnnn", Leg.FAILED),
    "skip": ("cfnnn", Leg.FAILED),
    "done": ("cfnnn", Leg.FAILED),
    "release": ("cfnnn", Leg.FAILED),
    "unlock": ("crnnn", Leg.RUNNING),
    "pause": ("crnnn", Leg.RUNNING),
    "resume": ("cwnnn", Leg.PAUSED),
    "cancel": ("crnnn", Leg.RUNNING),
}


@pytest.fixture
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_console(tmp_path_factory.mktemp("actions"), host="127.0.0.1", port=0) as running:
        add_everything(running)
        add_system(running.database, "new2", accept=False)
        add_legs(running)
        operator = Browser(running)
        operator.sign_in("operator")
        ask = {"run": "state.apply web", "target": "web-0001.fra", "count": "1"}
        operator.act("/account", "/command/run", ask)
        yield running


def add_legs(running: Running) -> None:
    add_fleet(running.database, list(LEGS))
    legs = [(name, letters, status, "locked") for name, (letters, status) in LEGS.items()]
    add_run(running.database, "legs", legs, at=time.time() - 60)
    add_run(running.database, "halted", legs[:1], at=time.time() - 60, status=Run.HALTED)
    mine = update(CHAIN_LEGS).where(CHAIN_LEGS.c.run == "legs")
    with running.database.write() as connection:
        connection.execute(mine.values(seq=1))
        connection.execute(mine.where(CHAIN_LEGS.c.system == "unlock").values(away=True))
        connection.execute(mine.where(CHAIN_LEGS.c.system == "release").values(quarantined=True))


class Visitor:
    """A browser of its own, and what was done with it."""

    def __init__(self, browser: Chromium, console: Running) -> None:
        self.page = new_page(browser.new_context(viewport=SCREEN))
        self.base = address(console)
        self.given: set[str] = set()
        self.complaints: list[str] = []
        self.page.on("response", self._note)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._hear)

    def _hear(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            self.complaints.append(said.text)

    def _note(self, answer: Response) -> None:
        if answer.request.method != "POST" or answer.status >= 400:
            return
        path = answer.url.removeprefix(self.base)
        found = next(one for one in PATHS if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", one), path))
        fields = parse_qs(answer.request.post_data or "")
        order = fields.get("verb", [""])[0] + ("-halted" if "despite_failures" in fields else "")
        self.given.add(f"{found} {order}" if found in ORDERS.values() else found)

    def sign_in(self, name: str) -> None:
        self.open("/sign-in")
        self.page.fill("#u", name)
        self.page.fill("#p", PASSWORD)
        self.send(self.page.locator("button.primary"))

    def open(self, path: str) -> None:
        self.page.goto(self.base + path)

    def send(self, button: Locator) -> None:
        """Press a button, and wait for the page that follows."""
        with self.page.expect_navigation():
            with self.page.expect_response(lambda one: one.request.method == "POST") as answer:
                button.click()
            assert answer.value.status < 400, answer.value.text()

    def _rows(self, within: str) -> Locator:
        return self.page.locator("tr, li", has_text=within) if within else self.page.locator("body")

    def press(self, button: str, within: str = "") -> None:
        """Press a button that acts at once. ``within``: a row of a list that says this."""
        self.send(self._rows(within).get_by_role("button", name=button, exact=True))

    def confirm(self, button: str, within: str = "", /, **fields: str) -> None:
        """Press a button that asks, fill in what its dialog asks for, and confirm."""
        self._rows(within).get_by_role("button", name=re.compile(rf"^{button} …")).click()
        dialog = self.page.locator("dialog[open]")
        for field, value in fields.items():
            dialog.locator(f"[name={field}]").fill(value)
        self.send(dialog.locator(".sure"))


SURE = {"typed": "1", "reason": "seen"}


def own_account(one: Visitor) -> None:
    one.open("/account")
    one.page.fill("#label", "a script")
    one.press("Make a token")
    expect(one.page.locator("#token")).not_to_be_empty()
    one.open("/account")
    one.press("Remove", "a script")
    one.page.fill("#old", PASSWORD)
    one.page.fill("#new-p", "another " + PASSWORD)
    one.press("Change it")
    one.press("Sign out")


def orders_about_runs(one: Visitor) -> None:
    one.open(f"/runs/{RUN}")
    one.press("Pause")
    one.press("Resume")
    one.confirm("Retry all 6")
    one.confirm("Cancel", typed="16", reason="enough")
    one.open("/runs/halted")
    one.confirm("Resume", reason="it is known")


def orders_about_systems(one: Visitor) -> None:
    one.open("/runs/legs/retry")
    one.confirm("Retry")
    for name, text in (("skip", "Skip patch"), ("done", "Say it is done: patch")):
        one.open(f"/runs/legs/{name}")
        one.confirm(text, reason="seen there")
    for name in ("release", "pause", "resume"):
        one.open(f"/runs/legs/{name}")
        one.press(name.capitalize())
    one.open("/runs/legs/cancel")
    one.confirm("Cancel leg", **SURE)


def a_system_that_is_away(one: Visitor, console: Running) -> None:
    one.open("/runs/legs/unlock")
    one.page.get_by_role("button", name="Stop waiting …").click()
    expect(one.page.locator("#unlock")).to_contain_text("What it reports later still counts")
    assert Axe().run(one.page).response["violations"] == []
    one.page.locator("#unlock [data-close]").click()
    one.confirm("Stop waiting", reason="it is scrapped")
    leg = console.client().chain_runs.leg("legs", "unlock")
    assert (leg["status"], "it is scrapped" in leg["waits_for"]) == ("expired", True)
    expect(one.page.locator("[data-order=unlock]")).to_be_hidden()


def a_chain(one: Visitor) -> None:
    one.open("/chains/walked/edit")
    one.page.locator(".yaml-text").fill(CHAIN)
    expect(one.page.locator("#b-flaws")).to_contain_text("The text is valid")
    one.press("Save version 1")
    one.open("/chains/walked/edit")
    one.page.locator(".yaml-text").fill(CHAIN + "  - {id: b, wait: 1}\n")
    expect(one.page.locator(".act")).to_have_count(2)
    one.page.get_by_role("button", name="Plan …").click()
    one.page.fill("#plan-on", "live1")
    one.page.click("#plan-who")
    one.send(one.page.get_by_role("button", name="Plan on 1 system"))
    one.open("/chains/walked?target=web-0001.fra")
    one.press("Run on 1 system")


def a_plan(one: Visitor, console: Running, agent: LightAgent) -> None:
    """A plan is run when the system has said what it would do."""
    one.open("/chains/walked?target=live1")
    one.press("Plan on 1 system")
    plan = one.page.url.partition("/plans/")[2].partition("?")[0]
    with console.database.read() as connection:
        body = connection.execute(select(CHAIN_PLANS.c.body).where(CHAIN_PLANS.c.id == plan)).scalar_one()
    leg: Any = json.decode(body)["request"]["legs"]["live1"]
    said = json.encode({"plan_sha256": leg, "steps": [], "facts": ["os"]})
    console.run(agent.give(plan, body=said, size=len(said)))
    console.run(console.bench.index())
    console.run(console.bench.keep_house("chain-plans"))
    expect(one.page.get_by_role("button", name="Run on 1 system")).to_be_visible()
    one.press("Run on 1 system")
    assert console.client().chain_runs.get(one.page.url.partition("/runs/")[2].partition("?")[0])["legs"]
    one.open("/chains/walked")
    one.press("Archive")


def the_calendar(one: Visitor) -> None:
    one.open("/calendar")
    one.confirm("New window", name="nights")
    one.confirm("Remove", "nights")
    one.confirm("New schedule", name="weekly", chain="built", target="web*")
    one.press("Off", "weekly")
    one.press("On", "weekly")
    one.confirm("Remove", "weekly")


def a_target_and_a_command(one: Visitor) -> None:
    one.open("/systems?t=web*")
    one.confirm("Save", name="webs")
    one.open("/command?target=live1&run=test.ping")
    one.confirm("Run on 1 system")
    one.confirm("Stop the rest", **SURE)


def keys_and_tokens(one: Visitor) -> None:
    one.open("/admin")
    one.confirm("Accept", "new1")
    one.confirm("Reject", "new2", **SURE)
    one.open("/admin?state=rejected")
    one.confirm("Remove", "new2", **SURE)
    one.open("/admin?state=accepted")
    one.confirm("Revoke", "new1", **SURE)
    one.open("/admin?state=revoked")
    one.confirm("Restore", "new1", **SURE)
    one.page.fill("#t-s", "here")
    one.press("Make a join token")
    one.open("/admin")
    one.press("Remove", "site here")


def operators_and_policy(one: Visitor) -> None:
    one.open("/admin/policy")
    one.page.fill("#n-n", "newcomer")
    one.press("Add")
    one.press("Keep out", "newcomer")
    one.press("Let in", "newcomer")
    one.page.fill("#p-t", "# looked at\n" + one.page.input_value("#p-t"))
    one.press("Apply")


def decisions(one: Visitor, console: Running) -> None:
    first, second = [row["id"] for row in console.client().approvals.list()]
    for good, bad in (("gate/r1/run", "gate/planned/run"), (f"request/{first}", f"request/{second}")):
        one.open(f"/inbox/{good}")
        one.press("Approve 1 system")
        one.open(f"/inbox/{bad}")
        one.confirm("Reject", reason="not tonight")


def all_actions() -> set[str]:
    """What the tables have: each path, and each order with its verb."""
    leg: Any = {"status": "failed", "quarantined": False, "away": False, "steps": []}
    offers = {"run": run_offers({"status": "halted", "legs": {}, "why": ""}), "leg": leg_offers(leg)}
    orders = {f"{ORDERS[kind]} {one['order']}" for kind, found in offers.items() for one in found}
    return orders | (set(PATHS) - set(ORDERS.values()))


def test_every_action_is_given_in_a_browser(chromium: Chromium, console: Running) -> None:
    agent = console.agent("live1")
    admin, approver, root = (Visitor(chromium, console) for _ in range(3))
    admin.sign_in("admin")
    approver.sign_in("approver")
    root.open("/sign-in/link?code=" + console.client().own.make_link()["code"])
    root.page.wait_for_url(f"{root.base}/")
    for walk in (orders_about_runs, orders_about_systems, a_target_and_a_command, keys_and_tokens):
        walk(admin)
    a_system_that_is_away(admin, console)
    a_chain(admin)
    a_plan(admin, console, agent)
    the_calendar(admin)
    decisions(approver, console)
    operators_and_policy(admin)
    own_account(admin)
    assert admin.complaints + approver.complaints + root.complaints == []
    assert admin.given | approver.given | root.given == all_actions()
