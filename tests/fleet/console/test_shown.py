"""What pages say of things as they are: pictures of kinds, words of steps, how long a window is open."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.api.kit import Running
from tests.fleet.console.data import add_fleet, add_run
from tests.fleet.console.kit import Browser

from saltern import __version__
from saltern.chains.actions import KINDS
from saltern.chains.statuses import Leg
from saltern.fleet.chains.rollout import GateAsk
from saltern.fleet.console import render
from saltern.fleet.console.format import data_line, diff_mark, kind_icon
from saltern.fleet.console.views.leg import describe_change, failed_at, step_word, tries
from saltern.fleet.console.views.states import state_rows
from saltern.fleet.controller.chains import gates

RUN = "20261116024712000007"
DAILY = """\
BEGIN:VCALENDAR
BEGIN:VEVENT
DTSTART:20200106T{0:02}0000Z
DURATION:PT6H
RRULE:FREQ=DAILY
END:VEVENT
END:VCALENDAR
"""


def add_all(running: Running) -> None:
    """Three systems in two waves, the second behind a gate; a window that is open."""
    add_fleet(running.database, ["web1", "web2", "web3", "db1"])
    legs = [
        ("web1", "cfnnn", Leg.FAILED, "dpkg is locked"),
        ("web2", "ccoco", Leg.SUCCEEDED, ""),
        ("web3", "nnnnn", Leg.PENDING, ""),
    ]
    add_run(running.database, RUN, legs, at=time.time(), waves=(2, "rest"))
    with running.database.write() as connection:
        gates.add(connection, RUN, {"wave 2": GateAsk()}, "ab" * 32, time.time())
        connection.exec_driver_sql("UPDATE chain_gates SET status = 'open', expires = 4e9")
    begin = (time.gmtime().tm_hour - 1) % 24
    running.client().windows.set("nights", DAILY.format(begin), target="db*")


def words(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<svg.*?</svg>", " ", text)))


@pytest.mark.parametrize("kind", [*KINDS, "", "unheard of"])
def test_every_kind_of_action_has_a_picture(kind: str) -> None:
    icons = Path(render.HERE, "templates", "icons.html").read_text()
    assert f'<symbol id="{kind_icon(kind)}"' in icons


@pytest.mark.parametrize("path", ["/", "/chains/os-patch", "/chains/os-patch/edit", "/account", "/nowhere"])
def test_the_foot_of_a_page_has_our_version(admin: Browser, path: str) -> None:
    assert f"saltern {__version__}</span></footer>" in admin.get(path).text


def test_a_wave_says_how_many_of_it_are_done(admin: Browser) -> None:
    shown = words(admin.get(f"/runs/{RUN}").text)
    assert "1 of 2 systems" in shown, "how many of a wave are done"


def test_a_gate_is_about_the_systems_of_its_wave(console: Running) -> None:
    (gate,) = [one for one in console.client().inbox()["items"] if one["kind"] == "gate"]
    assert (gate["gate"], gate["systems"]) == ("wave 2", 1)


def test_a_run_that_waits_for_a_gate_leads_to_it(admin: Browser) -> None:
    shown = admin.get(f"/runs/{RUN}").text
    assert f'<a href="/inbox/gate/{RUN}/wave%202">gate wave 2</a>: open' in shown


def test_what_happened_in_a_run_is_followed(admin: Browser) -> None:
    live = admin.get(f"/runs/{RUN}").text
    assert re.search(r'id="part-run-moments"[^>]*><section', live) and live.count("What happened") == 1
    past = admin.get(f"/runs/{RUN}?at={time.time():.0f}").text
    assert "part-run-moments" not in past and past.count("What happened") == 1


def test_a_leg_says_where_it_failed_and_what_changed(admin: Browser) -> None:
    shown = words(admin.get(f"/runs/{RUN}/web1").text)
    assert "web1 failed at patch" in shown
    assert re.search(r"drain changed 10 s", shown)
    assert "blocks reboot, health" in shown


def test_a_chain_says_until_when_systems_may_begin(admin: Browser) -> None:
    shown = words(admin.get("/chains/os-patch?target=*").text)
    assert re.search(r"1 may begin now until (\d+ \w+ )?[\d:]+ \(nights\)", shown)


def step(status: str, *given: dict[str, Any], changed: bool = False) -> dict[str, Any]:
    return {"status": status, "changed": changed, "tries": given, "started": 5.0, "ended": None}


def test_a_step_that_has_not_run_has_only_what_has_ended() -> None:
    open_try = {"status": "running", "started": 5.0, "ended": None}
    over = {"status": "failed", "started": 1.0, "ended": 2.0}
    assert tries(step("not run", open_try), 9.0) == []
    assert [one[:3] for one in tries(step("waiting", over, open_try), 9.0)] == [("failed", 1.0, 2.0)]
    assert [one[2] for one in tries(step("running", over, open_try), 9.0)] == [2.0, 9.0]


def test_an_attempt_that_changed_something_looks_like_it() -> None:
    over = {"status": "failed", "started": 1.0, "ended": 2.0}
    good = {"status": "succeeded", "started": 3.0, "ended": 4.0}
    assert [one[0] for one in tries(step("succeeded", over, good, changed=True), 9.0)] == [
        "failed",
        "changed",
    ]
    assert step_word(step("succeeded", changed=True)) == "changed"


def test_only_a_failed_leg_has_failed_somewhere() -> None:
    steps = [{"action": "a", "status": "succeeded"}, {"action": "b", "status": "timed out"}]
    assert failed_at({"status": "failed", "steps": steps}) == "b"
    assert failed_at({"status": "running", "steps": steps}) == ""


def test_a_journal_says_that_a_system_went_and_came_back() -> None:
    assert describe_change({"status": "running", "before": "running", "away": True}) == "running, away"
    assert describe_change({"status": "running", "before": "running", "away": False}) == "its system is back"
    assert describe_change({"status": "failed", "before": "running"}) == "failed"


def test_data_are_said_in_words() -> None:
    data = {"counts": {"returned": 2}, "test": False, "roles": ["a", "b"], "expires": 0.5, "why": "", "n": 7}
    line = data_line(data, 300)
    assert line == "counts: 2 returned, test: no, roles: a b, expires: 1970-01-01 00:00:00 UTC, n: 7"
    assert data_line({"a": "x" * 50}, 10) == "a: xxxxxxx…"


def test_a_diff_of_a_state_is_shown_line_by_line() -> None:
    changes = {"diff": "--- old\n+++ new\n@@ -1 +1 @@\n-a\n+b\n", "mode": {"old": "0600", "new": "0644"}}
    (row,) = state_rows({"file_|-motd_|-/etc/motd_|-managed": {"result": True, "changes": changes}})
    assert row["changes"] == ["--- old", "+++ new", "@@ -1 +1 @@", "-a", "+b", "~ mode  0600 → 0644"]
    assert [diff_mark(one) for one in row["changes"]] == ["h", "h", "h", "r", "a", ""]
    long = {"diff": "+\n" * 1000}
    (row,) = state_rows({"file_|-motd_|-/etc/motd_|-managed": {"result": True, "changes": long}})
    assert len(row["changes"]) < 100 and row["changes"][-1].endswith("more lines")


def test_a_leg_without_orders_has_no_empty_table(admin: Browser) -> None:
    assert "Orders</h2>" in admin.get(f"/runs/{RUN}/web1").text
    assert "Orders</h2>" not in admin.get(f"/runs/{RUN}/web2").text
