"""Chains, windows and schedules as a user types them: a real controller, real agents."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.fleet.e2e.conftest import Place

from saltern.cli import exits

CHAIN = "chain: patching\nactions:\n  - {id: a, command: 'true', targets: ['web*']}\n"
NIGHTS = """\
BEGIN:VCALENDAR
BEGIN:VEVENT
DTSTART:20200101T020000
DTEND:20200101T020001
RRULE:FREQ=YEARLY
END:VEVENT
END:VCALENDAR
"""


def test_a_chain_is_kept_edited_compared_and_archived(place: Place) -> None:
    file = place.base / "patching.yaml"
    file.write_text(CHAIN)
    assert place.run("chain", "new", "patching.yaml").stdout.startswith("patching: version 1 (")
    again = place.run("chain", "new", "patching.yaml")
    assert (again.returncode, "[chain-exists]" in again.stderr) == (exits.SURROUNDINGS, True)
    file.write_text(CHAIN + "  - {id: b, wait: 0, targets: [lost]}\n")
    edited = place.run("chain", "edit", "patching", "patching.yaml", "--reason", "wait for it")
    assert edited.stdout.startswith("patching: version 2"), edited
    assert "+  - {id: b, wait: 0, targets: [lost]}" in place.run("chain", "diff", "patching").stdout
    assert "wait for it" in place.run("chain", "show", "patching").stdout
    assert place.run("chain", "export", "patching", "1").stdout == CHAIN
    checked = place.run("chain", "validate", "patching")
    assert checked.stdout == "warning: action b: no system of '*' matches 'lost'\n", checked
    refused = place.run("chain", "validate", "patching", "--on", "db1")
    assert (refused.returncode, "no action is for" in refused.stdout) == (exits.FAILED, True), refused
    assert place.run("chain", "archive", "patching").stdout == "patching is archived\n"
    assert "patching" in place.run("chain", "list", "--archived").stdout
    assert place.run("chain", "archive", "patching", "--undo").returncode == 0


@pytest.mark.skipif(shutil.which("apt-cache") is None, reason="needs apt")
def test_systems_are_asked_whether_they_know_the_packages(place: Place) -> None:
    text = "chain: tools\nactions:\n  - {id: known, packages: {install: [bash]}}\n"
    (place.base / "tools.yaml").write_text(text)
    done = place.run("chain", "validate", "tools.yaml", "--on", "web1,web2")
    assert (done.returncode, done.stdout) == (0, "no problems were found\n"), done
    text += "  - {id: lost, packages: {install: {no-such-package: '1.0', bash: null}}, targets: [web2]}\n"
    (place.base / "tools.yaml").write_text(text)
    done = place.run("chain", "validate", "tools.yaml", "--on", "web1,web2")
    assert done.returncode == exits.FAILED, done
    assert done.stdout == "error: action lost: no repository there has the package 'no-such-package': web2\n"


def test_an_editor_makes_the_next_version(place: Place) -> None:
    (place.base / "edited.yaml").write_text(CHAIN.replace("patching", "edited"))
    place.run("chain", "import", "edited.yaml")
    place.env["EDITOR"] = "sed -i 's/true/false/'"
    try:
        done = place.run("chain", "edit", "edited")
    finally:
        del place.env["EDITOR"]
    assert done.stdout.startswith("edited: version 2"), done
    assert "command: 'false'" in place.run("chain", "export", "edited").stdout


def test_a_window_says_why_not_now(place: Place) -> None:
    (place.base / "nights.ics").write_text(NIGHTS)
    done = place.run("window", "set", "nights", "nights.ics", "--target", "web*", "--zone", "Europe/Berlin")
    assert done.returncode == 0, done
    checked = place.run("window", "check", "web1", "--needs", "60")
    assert checked.returncode == exits.FAILED, checked
    closed = "web1: not now: no window of nights is open; there is no next window"
    assert checked.stdout.startswith(closed), checked
    assert place.run("window", "check", "db1").stdout == "db1: open, at any time\n"
    assert place.run("window", "show", "nights").stdout == NIGHTS
    assert place.run("window", "remove", "nights").returncode == 0
    assert place.run("window", "list").stdout.startswith("no windows")


def test_a_schedule_is_kept_with_its_next_time(place: Place) -> None:
    (place.base / "timed.yaml").write_text(CHAIN.replace("patching", "timed"))
    place.run("chain", "import", "timed.yaml")
    done = place.run("schedule", "set", "nightly", "timed", "30 2 * * *", "--zone", "Europe/Berlin")
    assert "timed" in done.stdout, done
    (row,) = json.loads(place.run("schedule", "list", "--out", "json").stdout)
    assert row["next_at"] > 0
    assert "disabled" in place.run("schedule", "disable", "nightly").stdout
    assert place.run("schedule", "remove", "nightly").returncode == 0
    wrong = place.run("schedule", "set", "x", "timed", "often")
    assert "[schedule-invalid]" in wrong.stderr, wrong
