"""``docs/getting-started/first-console.md``, followed in the real Chromium on a real fleet, and nothing else.

What is clicked is what the page prints in bold, and what is typed is what it prints as code.
"""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="needs the browser")

from playwright.sync_api import Browser, Page, expect
from tests.fleet.e2e.test_demo import COMMAND, environment
from tests.views.conftest import PATIENCE, chromium  # noqa: F401 (a fixture)

GUIDE = Path("docs/getting-started/first-console.md").read_text().replace("\n", " ")
ENDS = 180_000  # milliseconds in which a run of a few seconds has ended on a busy machine


class Demo:
    """What the demonstration has printed."""

    def __init__(self, said: str) -> None:
        found = re.search(r"https://\S+", said)
        assert found is not None, said
        self.link = found[0]
        self.base = self.link.partition("/sign-in")[0]
        self.passwords = dict(re.findall(r"^  (anna|ben) .*password (\S+)$", said, re.M))


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    with subprocess.Popen(
        [*COMMAND, "--console"],
        env=environment(tmp_path_factory.mktemp("home")),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            assert running.stdout is not None and running.stderr is not None
            said = ""
            while "Ctrl-C" not in said:
                line = running.stdout.readline()
                assert line, running.stderr.read()
                said += line
            yield Demo(said)
        finally:
            running.send_signal(signal.SIGINT)
            running.communicate(timeout=120)


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:  # noqa: F811
    """The browser of a newcomer, who accepts the certificate."""
    context = chromium.new_context(ignore_https_errors=True, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert complaints == []


def bold(label: str) -> str:
    assert f"**{label}**" in GUIDE, f"the guide does not say {label!r}"
    return label


def code(text: str) -> str:
    assert f"`{text}`" in GUIDE, f"the guide does not say {text!r}"
    return text


def choose(page: Page, label: str) -> None:
    """An entry of the menu."""
    page.get_by_role("navigation", name="Console").get_by_role("link", name=bold(label)).click()


def press(page: Page, label: str) -> None:
    page.get_by_role("button", name=bold(label)).click()


def sign_in_as(page: Page, demo: Demo, name: str) -> None:
    """Sign out by the name at the top right, and in again."""
    page.locator("header .who").click()
    page.get_by_role("button", name="Sign out").click()
    page.locator("[name=name]").fill(code(name))
    page.locator("[name=password]").fill(demo.passwords[name])
    page.keyboard.press("Enter")
    expect(page.locator("header .who")).to_contain_text(name)


def approve(page: Page, what: re.Pattern[str], label: str) -> None:
    choose(page, "Inbox")
    page.get_by_role("link", name=what).click()
    page.get_by_label("Comment, kept in the audit").fill("looks right")
    press(page, label)
    expect(page.locator("main")).to_contain_text("Your approval is counted")


def test_five_systems_are_patched_in_waves_and_the_second_wave_is_approved(page: Page, demo: Demo) -> None:
    page.goto(demo.link)
    expect(page.locator("header .who")).to_contain_text("admin")
    choose(page, "Runs")
    page.get_by_role("link", name=re.compile("^os-patch ")).click()
    expect(page.locator("tr[data-system=web1] th")).to_contain_text("failed at unlock")
    expect(page.locator("tr[data-system=web2] th")).to_contain_text("succeeded")
    expect(page.locator("main")).to_contain_text("dpkg is locked")
    expect(page.locator("main")).to_contain_text("waiting")
    first = page.url

    sign_in_as(page, demo, "ben")
    approve(page, re.compile("os-patch version 2: may wave 2 begin"), "Approve 1 system")
    page.goto(first)
    expect(page.locator("tr[data-system=web3] th")).to_contain_text("succeeded", timeout=ENDS)

    sign_in_as(page, demo, "anna")
    choose(page, "Chains")
    page.get_by_role("link", name=code("os-patch"), exact=True).click()
    page.get_by_role("link", name=bold("Edit")).click()
    page.locator(".act", has_text=code("unlock")).click()
    expect(page.locator("#form")).to_have_text("5 · command")
    page.keyboard.press(code("Del").replace("Del", "Delete"))
    expect(page.locator(".act")).to_have_count(7)
    page.keyboard.press(code("a"))
    page.locator("details.add").get_by_role("button", name="health", exact=True).click()
    expect(page.locator(".act")).to_have_count(8)
    page.get_by_label("command", exact=True).fill(code("uptime"))
    page.keyboard.press("Tab")
    expect(page.locator(".yaml-text")).to_have_value(re.compile(r"command: uptime"))
    page.get_by_label("Note, kept with the version").fill("the package manager is free")
    press(page, "Save version 3")
    page.wait_for_url("**/chains/os-patch?*")

    page.locator("[name=target]").fill(code("*"))
    press(page, "Which systems?")
    expect(page.locator(".answer")).to_contain_text("5 systems")
    expect(page.locator(".answer")).to_contain_text("until")
    page.get_by_label("Waves").fill(code("2 rest"))
    page.get_by_label("needs an approval before it begins").check()
    press(page, "Run on 5 systems")
    page.wait_for_url("**/runs/*")
    mine = page.url.partition("?")[0]
    expect(page.locator(".waves > li").first).to_contain_text("2 of 2 systems", timeout=ENDS)
    expect(page.locator("main")).to_contain_text("for approval of gate", timeout=ENDS)

    sign_in_as(page, demo, "ben")
    approve(page, re.compile("os-patch version 3: may wave 2 begin"), "Approve 3 systems")
    page.goto(mine)
    expect(page.locator(".waves > li").nth(1)).to_contain_text("3 of 3 systems", timeout=ENDS)
    expect(page.locator(".title")).to_contain_text("succeeded", timeout=ENDS)
