"""What a terminal shows of a run of a chain: aligned, what needs a look first, and what can be done."""

from __future__ import annotations

from typing import Any

from saltern.fleet.view.chain_log import log_lines
from saltern.fleet.view.chain_matrix import matrix_lines
from saltern.fleet.view.chain_run import advice, grouped_legs, leg_lines, list_lines, look_lines, run_lines
from saltern.fleet.view.words import moment

NOW = 1_800_000_000.0
ACTIONS = ["drain", "patch", "reboot", "health"]


def row(system: str, status: str, *cells: str, away: bool = False) -> dict[str, Any]:
    return {"system": system, "status": status, "away": away, "cells": list(cells), "wave": 1}


def matrix(*rows: dict[str, Any], why: str = "") -> dict[str, Any]:
    return {"run": "r", "status": "running", "why": why, "actions": ACTIONS, "rows": list(rows)}


def test_each_mark_is_below_the_name_of_its_action() -> None:
    head, first = matrix_lines(matrix(row("web1", "failed", "succeeded", "failed", "not run", "")))[1:3]
    assert [first[head.index(action)] for action in ACTIONS[:3]] == ["✔", "✘", "·"]
    assert first.startswith("web1  ")


def test_where_names_do_not_fit_columns_are_numbered_and_a_line_says_what_they_are() -> None:
    shown = matrix_lines(matrix(row("web1", "running", *["running"] * 4)), width=45)
    assert shown[1] == "  1 drain, 2 patch, 3 reboot, 4 health"
    assert [shown[3][shown[2].index(number)] for number in "1234"] == ["▸"] * 4
    assert all(len(line) < 45 for line in shown)


def test_what_a_run_waits_for_is_wrapped_and_not_cut() -> None:
    why = "20 systems wait for a window: no window of nights is open; next 2026-11-17 02:51:00 UTC"
    shown = matrix_lines(matrix(row("web1", "pending"), why=why), width=60)
    assert " ".join(line.strip() for line in shown[1:3]) == why


def test_on_a_small_screen_the_failed_and_the_lost_are_kept_and_the_rest_is_counted() -> None:
    done = [row(f"web{number}", "succeeded") for number in range(10, 30)]
    rows = [*done[:10], row("lost", "rebooting", away=True), row("bad", "failed"), *done[10:]]
    shown = matrix_lines(matrix(*rows), height=8)
    assert len(shown) == 8
    assert any(line.startswith("bad") for line in shown)
    assert any(line.startswith("lost") and "away" in line for line in shown)
    assert shown[-2] == "… and 18 more: 18 succeeded"
    assert shown[-1] == "22 systems: 1 failed, 1 away, 20 succeeded"


def leg(system: str, status: str, **more: Any) -> dict[str, Any]:
    usual = {"wave": 1, "current": "", "waits_for": "", "quarantined": False, "ended": None, "away": False}
    return {"system": system, "status": status, **usual, **more}


def run(*legs: dict[str, Any], **more: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {
        "run": "r",
        "chain": "nightly",
        "version": 1,
        "target": "web*",
        "status": "running",
        "why": "",
        "author": "ann",
        "created": NOW - 60,
        "begun": NOW - 30,
        "ended": None,
        "deadline": NOW + 60,
        "plan_sha256": "abc",
        "inputs": {},
        "revisions": [],
        "gates": [],
        "legs": list(legs),
        "waves": [{"wave": 1, "stage": "", "status": "running", "soak_until": 0, "systems": len(legs)}],
    }
    return usual | more


def test_systems_of_which_the_same_is_said_are_one_line_and_bad_ones_come_first() -> None:
    bad = leg("web9", "failed", current="health", note="exit code 7: 503")
    legs = [leg("web1", "succeeded"), leg("web2", "succeeded"), bad, leg("web3", "pending")]
    shown = list(run_lines(run(*legs), NOW))
    assert "  wave 1: running, 4 systems: 1 failed, 1 pending, 2 succeeded" in shown
    at = shown.index("  web9: failed at health: exit code 7: 503")
    assert shown[at + 1 : at + 3] == ["  web3: pending", "  web1, web2 (2 systems): succeeded"]
    assert shown[-2:] == [
        "saltern chain retry r --system web9 runs again what has not succeeded",
        "saltern chain log r web9 health has what it printed",
    ]


def test_a_system_that_is_down_says_since_when_and_until_when_and_how_to_give_it_up() -> None:
    times = {"away_since": NOW - 600, "back_by": NOW + 600}
    shown = list(run_lines(run(leg("web4", "rebooting", away=True, current="reboot", **times)), NOW))
    since, back = moment(NOW - 600, NOW), moment(NOW + 600, NOW)
    assert f"  web4: rebooting at reboot, away since {since}, to be back by {back}" in shown
    assert shown[-1] == "saltern chain unlock r --system web4 stops waiting for systems that are away"


def test_what_a_gate_has_ended_is_not_to_be_retried() -> None:
    gate = {"gate": "wave 2", "status": "rejected", "votes": [], "needed": 1, "of": "", "expires": None}
    ended = leg("web2", "cancelled", waits_for="gate 'wave 2' was rejected: not tonight")
    assert advice(run(leg("web1", "succeeded"), ended, gates=[gate], status="partial")) == []
    (said, _) = advice(run(leg("web1", "failed", current="a"), ended, gates=[gate], status="partial"))
    assert said == "saltern chain retry r --system web1 runs again what has not succeeded"


def test_below_a_matrix_is_why_systems_need_a_look_and_what_can_be_done() -> None:
    bad = leg("web9", "failed", current="health", note="exit code 7: 503")
    lost = leg("web4", "rebooting", away=True, current="reboot", away_since=NOW - 600, back_by=NOW + 600)
    said = look_lines(run(leg("web1", "succeeded"), bad, lost, status="halted"), NOW)
    assert said[0] == "web9: failed at health: exit code 7: 503"
    assert said[1].startswith("web4: rebooting at reboot, away since ")
    assert said[2] == "saltern chain resume r --despite-failures continues, cancel ends it"
    assert look_lines(run(leg("web1", "succeeded"), leg("web2", "running")), NOW) == []
    rows = [row(f"web{number}", "succeeded") for number in range(30)]
    for height in (8, 12, 40):
        shown = matrix_lines(matrix(*rows, row("bad", "failed")), width=60, height=height, below=said)
        assert len(shown) <= height and all(len(line) < 60 for line in shown)
        assert any(line.startswith("bad") for line in shown)
        assert any(said[0] in line for line in shown)
    assert "".join(said[2].split()) in "".join("".join(shown).split()), "what is too long is wrapped"


def test_in_the_end_a_system_that_was_lost_says_why() -> None:
    step = {"action": "reboot", "kind": "reboot", "status": "not run", "changed": False, "attempts": 0}
    steps = [{**step, "blocked_by": "", "comment": ""}]
    why = "it did not come back: it has been away for 61 seconds"
    lost = leg("web4", "expired", steps=steps, waits_for=why)
    failed = leg("web9", "failed", steps=steps, waits_for="its action says it")
    shown = list(grouped_legs([lost, failed], 80))
    assert [shown[0], shown[2]] == [f"web4: expired: {why}", "web9: failed"]


def test_many_systems_that_need_a_look_are_counted() -> None:
    said = look_lines(run(*(leg(f"web{n}", "failed", note=f"error {n * 7}") for n in range(9))), NOW)
    assert said[3:5] == ["web3: failed: error 21", "and 5 more systems"]


def test_a_run_that_ends_before_its_window_says_what_can_be_done() -> None:
    why = "1 system waits for a window: none is open; the run ends before that, at 2026-11-17 11:06:27 UTC"
    shown = look_lines(run(leg("web1", "pending"), status="scheduled", why=why), NOW)
    assert shown == ["saltern chain cancel r ends it; begin another with a longer --deadline"]


def test_a_gate_says_what_it_needs_and_who_has_decided() -> None:
    votes = [{"who": "joe", "approves": True, "at": NOW, "why": ""}]
    usual = {"of": "ops", "expires": NOW + 60, "plan_sha256": "abc"}
    gates = [
        {"gate": "wave 2", "status": "approved", "needed": 1, "votes": votes, **usual},
        {"gate": "wave 3", "status": "open", "needed": 2, "votes": votes, **usual},
    ]
    shown = list(run_lines(run(leg("web1", "pending"), gates=gates), NOW))
    assert f"  gate 'wave 2': approved by joe {moment(NOW, NOW)}" in shown
    until = moment(NOW + 60, NOW)
    assert f"  gate 'wave 3': needs approval, 1 of 2 so far of ops, until {until}" in shown


def test_a_run_that_is_over_says_what_was_not_begun_and_not_decided() -> None:
    usual = {"of": "", "expires": NOW + 60, "plan_sha256": "abc", "votes": []}
    gates = [
        {"gate": "run", "status": "open", "needed": 1, **usual},
        {"gate": "revision 1", "status": "open", "needed": 1, **usual},
    ]
    waves = [{"wave": 1, "stage": "", "status": "pending", "soak_until": 0, "systems": 1}]
    over = run(leg("web1", "cancelled"), status="cancelled", ended=NOW, gates=gates, waves=waves)
    shown = list(run_lines(over, NOW))
    assert "  wave 1: not begun, 1 system: 1 cancelled" in shown
    assert "  gate 'run': not decided, 0 of 1 approved" in shown
    assert f"  gate 'revision 1': needs approval, 0 of 1 so far, until {moment(NOW + 60, NOW)}" in shown


def test_one_system_says_when_each_action_ran_its_boots_and_what_is_not_answered() -> None:
    step = {"kind": "command", "blocked_by": "", "attempts": 1, "changed": False, "comment": "Command run"}
    steps = [
        {"action": "a", "status": "failed", "note": "exit code 7", "started": NOW - 60, "took": 3.2, **step},
        {
            "action": "b",
            "status": "not run",
            "note": "",
            "started": NOW - 50,  # of an earlier attempt
            "took": 0,
            **step,
            "blocked_by": "a",
        },
    ]
    boots = [{"planned": True, "at": NOW - 90}, {"planned": False, "at": NOW - 80}]
    orders = [{"order": 2, "verb": "cancel", "created": NOW, "acked": None}]
    shown = list(leg_lines(leg("web1", "running", steps=steps, boots=boots, orders=orders), NOW))
    assert f"  booted {moment(NOW - 80, NOW)}, not requested by an action" in shown
    assert f"  order 2 (cancel) of {moment(NOW, NOW)} is not answered yet" in shown
    assert shown[-2].split() == f"a command failed {moment(NOW - 60, NOW)}, 3.2 s exit code 7".split()
    assert shown[-1].split() == ["b", "command", "not", "run", "blocked", "by", "a"]


def test_a_list_of_runs_says_what_each_waits_for() -> None:
    one = {"run": "r", "status": "running", "chain": "nightly", "version": 1, "created": NOW}
    lines = list(list_lines([{**one, "legs": {"succeeded": 1, "failed": 2}, "why": "waits for joe"}], NOW))
    assert lines[1].endswith("2 failed, 1 succeeded: waits for joe")


def test_a_log_has_no_empty_ends() -> None:
    rows = [{"at": NOW, "what": "approved", "who": "joe", "about": "wave 2", "detail": ""}]
    assert list(log_lines(rows, NOW)) == [f"{moment(NOW, NOW)}  gate 'wave 2' approved by joe"]


def test_a_log_names_the_gate_whose_time_is_over() -> None:
    rows = [{"at": NOW, "what": "expired", "who": "", "about": "wave 2", "detail": "its time is over"}]
    assert list(log_lines(rows, NOW)) == [f"{moment(NOW, NOW)}  gate 'wave 2' expired: its time is over"]
