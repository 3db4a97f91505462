"""Equal outcomes are said once."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fleet.view.samples import answered, state

from saltern.fleet.view.formats import value_of
from saltern.fleet.view.groups import counts, failures, groups, summary, without_name
from saltern.fleet.view.outcomes import Answered, Outcome, outcome

CHANGES = {"diff": "new"}


def applied(system: str, *states: dict[str, object]) -> Outcome:
    return outcome("state.apply", answered(system, *states))


def changed(system: str, *ids: str) -> Outcome:
    return applied(system, *(state(id_, number, changes=CHANGES) for number, id_ in enumerate(ids)))


def broken(system: str, why: str = "unit not found") -> Outcome:
    return applied(system, state("nginx", 0, False, why))


def test_the_sentence_of_the_specification() -> None:
    fine = [changed(f"app{number:02d}", "a", "b", "c") for number in range(41)]
    lines = list(summary([*fine, broken("web7"), broken("web9")]))
    assert lines == [
        "2 failed: 'nginx' (service.running) – unit not found (web7, web9)",
        "    web/init.sls:14",
        "41 changed the same 3 states: a, b, c "
        "(app00, app01, app02, app03, app04, app05, app06, app07 and 33 more)",
        "43 systems: 2 failed, 41 changed",
    ]


def test_a_system_without_a_broken_run_has_nothing_to_resume() -> None:
    answers = [Answered(system=one, status="returned", has_body=True) for one in ("web1", "web2")]
    found = [outcome("saltern.resume", one) for one in answers]
    assert list(summary(found)) == [
        "2 unchanged: no run is broken; there is nothing to resume (web1, web2)",
        "2 systems: 2 unchanged",
    ]
    assert value_of(found[0]) == "no run is broken; there is nothing to resume"


def test_other_states_are_another_group() -> None:
    found = groups([changed("a", "x", "y"), changed("b", "x"), changed("c", "x", "y")], "changed")
    assert [group.systems for group in found] == [("a", "c"), ("b",)]


def test_the_own_name_of_a_system_makes_no_difference() -> None:
    found = failures(
        [broken(system, f"{system}: no route to db.{system}.net") for system in ("web7", "web9")]
    )
    assert [systems for _, systems in found] == [("web7", "web9")]
    lines = list(summary([broken(system, f"{system} is full") for system in ("web7", "web9")]))
    assert lines[0] == "2 failed: 'nginx' (service.running) – {id} is full (web7, web9)"


def test_states_that_have_the_name_of_their_system_are_named_for_all() -> None:
    assert list(summary([changed(system, f"/srv/{system}/motd") for system in ("web1", "web2")])) == [
        "2 changed the same state: /srv/{id}/motd (web1, web2)",
        "2 systems: 2 changed",
    ]
    assert next(summary([changed("web1", "/srv/web1/motd")])) == "1 changed 1 state: /srv/web1/motd (web1)"
    failed_ = [applied(system, state(f"on {system}", 0, False, "no")) for system in ("web1", "web2")]
    assert next(summary(failed_)) == "2 failed: 'on {id}' (service.running) – no (web1, web2)"


def test_no_states_at_all_is_a_reason_and_no_state() -> None:
    value = {"no_|-states_|-states_|-None": {"result": False, "comment": "no top file", "changes": {}}}
    found = [
        outcome("state.apply", Answered(system=name, status="failed", exit_code=2, body=value, has_body=True))
        for name in ("web1", "web2")
    ]
    assert list(summary(found)) == ["2 failed: no top file (web1, web2)", "2 systems: 2 failed"]


def test_a_name_inside_of_another_word_is_not_the_name() -> None:
    assert without_name("web10 web1 myweb1 web1-x web1.", "web1") == "web10 \0 myweb1 web1-x \0."


def test_what_a_failure_blocked_is_not_a_failure_of_its_own() -> None:
    cause = "service_|-nginx_|-nginx_|-running"
    blocked = {**state("site", 1, False, "requisites failed"), "__state_ran__": False, "root_cause": [cause]}
    one = applied("web7", state("nginx", 0, False, "unit not found"), blocked)
    assert [failure.id for failure in one.failures] == ["nginx"]


def test_those_without_an_answer_are_grouped_by_why() -> None:
    away = [
        outcome("state.apply", Answered(system=f"w{n}", status="expired", why="too late")) for n in (1, 2)
    ]
    refused = outcome("state.apply", Answered(system="w3", status="refused", why="denied"))
    assert list(summary([*away, refused])) == [
        "2 expired: too late (w1, w2)",
        "1 refused: denied (w3)",
        "3 systems: 3 without an answer",
    ]


@pytest.mark.parametrize("function", ["state.apply", "test.ping", "saltern.plan"])
def test_a_refusal_that_the_agent_itself_returned_is_no_answer_of_the_function(function: str) -> None:
    said = Answered(system="w3", status="refused", why="its disk is full", body=None, has_body=True)
    assert list(summary([outcome(function, said)])) == [
        "1 refused: its disk is full (w3)",
        "1 system: 1 without an answer",
    ]
    assert value_of(outcome(function, said)) == "refused: its disk is full"
    none = outcome("test.ping", Answered(system="w3", status="returned", body=None, has_body=True))
    assert value_of(none) is None


def test_states_that_do_not_compile_are_a_problem() -> None:
    bad = Answered(system="a", status="failed", exit_code=3, body={"local": ["web.sls:3: no"]}, has_body=True)
    assert next(summary([outcome("state.apply", bad)])) == "1 failed: web.sls:3: no (a)"


def test_a_test_run_would_change() -> None:
    one = applied("a", state("x", 0, None), state("y", 1))
    assert (one.kind, one.changed, one.total) == ("would change", ("x",), 2)
    assert next(summary([one])) == "1 would change 1 state: x (a)"


kinds = st.sampled_from(["changed", "changed two", "clean", "broken", "other", "expired", "value"])


def _one(system: str, kind: str) -> Outcome:
    match kind:
        case "changed":
            return changed(system, "x")
        case "changed two":
            return changed(system, "x", "y")
        case "clean":
            return applied(system, state("x", 0))
        case "broken":
            return broken(system)
        case "other":
            return broken(system, f"disk full on {system}")
        case "expired":
            return outcome("state.apply", Answered(system=system, status="expired"))
    return outcome("test.ping", Answered(system=system, status="returned", body=True, has_body=True))


@given(st.lists(kinds, max_size=30))
def test_the_counts_are_those_of_the_systems(chosen: list[str]) -> None:
    outcomes = [_one(f"w{number:02d}", kind) for number, kind in enumerate(chosen)]
    text = counts(outcomes)
    assert sum(map(int, re.findall(r"[:,] (\d+) ", text))) == len(chosen)


@given(st.lists(kinds, max_size=30), st.randoms(use_true_random=False))
def test_every_system_is_in_exactly_one_group_whatever_the_order(chosen: list[str], random: object) -> None:
    outcomes = [_one(f"w{number:02d}", kind) for number, kind in enumerate(chosen)]
    grouped = [one for one in outcomes if one.kind != "failed"]
    found = groups(grouped, "changed", "would change", "clean", "value", "problem", "nothing")
    assert sorted(id_ for group in found for id_ in group.systems) == sorted(one.system for one in grouped)
    assert {id_ for _, systems in failures(outcomes) for id_ in systems} == {
        one.system for one in outcomes if one.kind == "failed"
    }
    random.shuffle(outcomes)  # type: ignore[attr-defined]
    mixed = [one for one in outcomes if one.kind != "failed"]
    again = groups(mixed, "changed", "would change", "clean", "value", "problem", "nothing")
    assert {frozenset(group.systems) for group in again} == {frozenset(group.systems) for group in found}


@given(st.lists(kinds, min_size=1, max_size=12), st.integers(20, 100))
def test_the_summary_is_as_wide_as_the_terminal_or_has_one_word_in_a_line(
    chosen: list[str], width: int
) -> None:
    outcomes = [_one(f"w{number:02d}", kind) for number, kind in enumerate(chosen)]
    assert all(len(line) <= width or " " not in line.strip() for line in summary(outcomes, width=width))


def test_a_reason_of_several_lines_stands_below() -> None:
    bad = Answered(system="a", status="failed", exit_code=3, why="salt://web.sls:14: wrong\n  fix: x")
    lines = list(summary([outcome("state.apply", bad)]))
    assert lines[:2] == ["1 failed: salt://web.sls:14: wrong (a)", "      fix: x"]


def test_what_an_interrupted_run_did_not_reach_is_one_line() -> None:
    why = "not run: the run was interrupted"
    left = [{**state(f"s{number}", number, False, why), "__state_ran__": False} for number in range(9)]
    assert next(summary([applied("a", *left)])) == f"1 failed: 's0' (service.running) and 8 more – {why} (a)"
