"""A run over a Salt master, folded from the rows of the runner."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.chains.document import read_chain
from saltern.chains.over_salt import SaltRun
from saltern.chains.statuses import Leg

TEXT = """\
chain: patch
actions:
  - {id: one, command: uptime}
  - {id: two, command: uptime, targets: [web2]}
"""
ENDS = ("succeeded", "succeeded with skips", "failed", "cancelled", "expired", "indeterminate")


def run_of(*systems: str) -> SaltRun:
    return SaltRun("r", read_chain(TEXT, "patch.yaml"), systems)


def leg(status: str, **steps: str) -> dict[str, Any]:
    rows = [{"action": name, "kind": "command", "status": one} for name, one in steps.items()]
    return {"status": status, "run": "20261116", "steps": rows}


def test_what_happens_is_seen_at_once_and_the_leg_has_the_last_word() -> None:
    run = run_of("web1", "web2")
    run.note({"event": "started", "there": ["web1"], "systems": ["web1", "web2"]})
    assert run.away == {"web2"} and run.status().value == "running"
    run.note({"event": "action-started", "system": "web2", "action": "one"})
    assert run.as_matrix()["rows"][1]["cells"] == ["running", "not run"] and not run.away
    row = {"status": "failed", "comment": "no", "changed": True}
    run.note({"event": "action-finished", "system": "web2", "action": "one", **row})
    assert run.as_matrix()["rows"][1]["cells"] == ["failed", "not run"]
    run.note({"event": "leg", "system": "web2", "leg": leg("succeeded", one="succeeded", two="succeeded")})
    run.note({"event": "leg", "system": "web1", "leg": leg("failed", one="failed")})
    assert run.status().value == "partial"
    assert run.as_matrix()["rows"][0]["cells"] == ["failed", ""]


def test_a_minion_that_refuses_says_why_on_its_first_action() -> None:
    run = run_of("web1")
    run.note({"event": "problem", "system": "web1", "problem": "ERROR: x\nsaltern is not installed"})
    (found,) = run.legs()
    assert (found["status"], found["steps"][0]["comment"]) == ("failed", "saltern is not installed")


@pytest.mark.parametrize(
    ("statuses", "whole"),
    [
        (("succeeded", "succeeded with skips"), "succeeded"),
        (("succeeded", "failed"), "partial"),
        (("failed", "cancelled"), "failed"),
        (("cancelled", "cancelled"), "cancelled"),
        (("succeeded", "paused"), "paused"),
        (("paused", "rebooting"), "running"),
        (("failed", "pending"), "running"),
    ],
)
def test_the_status_of_the_run(statuses: tuple[str, str], whole: str) -> None:
    run = run_of("web1", "web2")
    for system, status in zip(("web1", "web2"), statuses, strict=True):
        run.learn(system, leg(status, one="succeeded"))
    assert run.status().value == whole


kinds = st.sampled_from(["action-started", "action-finished", "leg", "problem", "minion-started"])
systems = st.sampled_from(["web1", "web2", "other"])
rows = st.builds(
    lambda kind, system, status: {
        "event": kind,
        "system": system,
        "action": "one",
        "status": "succeeded",
        "problem": status,
        "leg": leg(status, one="succeeded"),
    },
    kinds,
    systems,
    st.sampled_from([one.value for one in Leg]),
)


@given(st.lists(rows))
def test_no_system_touches_another_and_every_end_is_known(given_rows: list[dict[str, Any]]) -> None:
    both, alone = run_of("web1", "web2"), run_of("web1")
    for row in given_rows:
        both.note(row)
        if row["system"] == "web1":
            alone.note(row)
    assert both.legs()[0] == alone.legs()[0]
    over = all(one["status"] in ENDS for one in both.legs())
    assert (both.status().value in ("succeeded", "partial", "failed", "cancelled")) == over


def test_only_those_that_were_asked_change_whether_they_are_away() -> None:
    run = run_of("web1", "web2")
    run.note({"event": "away", "systems": ["web1"], "asked": ["web1"]})
    run.note({"event": "away", "systems": ["web2"], "asked": ["web2"]})
    assert run.away == {"web1", "web2"}
    run.note({"event": "away", "systems": [], "asked": ["web1"]})
    run.note({"event": "asked-again", "system": "web2"})
    assert not run.away
