"""Votes become a verdict: every row of the table of requisites, and how rows agree."""

from __future__ import annotations

import pytest
from tests.kit import chunk

from saltern.language.diagnostics import Diagnostics
from saltern.language.events import Answer
from saltern.language.requisites import REQUISITES, Vote
from saltern.language.result import Outcome, Result, blocked, failed, ok, skipped
from saltern.plan.make import make_plan
from saltern.plan.plan import Plan
from saltern.runtime.answers import Answers
from saltern.runtime.decide import blocked_result as blocked_result
from saltern.runtime.decide import decide

RESULTS = {
    "ok": ok("fine"),
    "changed": ok("fine", changes={"x": 1}),
    "would": Result(outcome=Outcome.WOULD_CHANGE, changes={"x": 1}),
    "none": Result(outcome=Outcome.WOULD_CHANGE),
    "failed": failed("broken"),
    "failed_changed": failed("broken", changes={"x": 1}),
    "skipped": skipped("held"),
    "blocked": blocked("requisite failed"),
}
GO, SIGNAL, HOLD, FAIL = Vote.GO, Vote.SIGNAL, Vote.HOLD, Vote.FAIL

TABLE: dict[str, dict[str, Vote]] = {
    "require": {"failed": FAIL, "failed_changed": FAIL, "blocked": FAIL, "": GO},
    "watch": {
        "failed": FAIL,
        "failed_changed": FAIL,
        "blocked": FAIL,
        "changed": SIGNAL,
        "would": SIGNAL,
        "": GO,
    },
    "onchanges": {"changed": GO, "would": GO, "": HOLD},
    "onfail": {"failed": GO, "failed_changed": GO, "blocked": GO, "": HOLD},
}
TABLE["require_any"] = TABLE["require"]
TABLE["watch_any"] = TABLE["watch"]
TABLE["onchanges_any"] = TABLE["onchanges"]
TABLE["onfail_any"] = TABLE["onfail_all"] = TABLE["onfail"]


def planned(kinds: dict[str, list[str]]) -> tuple[Plan, Answers, int]:
    """An owner with these requisites on targets that have answered so."""
    targets = [(kind, what) for kind, whats in kinds.items() for what in whats]
    owner = chunk("owner", requisites=[(kind, "test", f"t{n}") for n, (kind, _) in enumerate(targets)])
    plan = make_plan([*(chunk(f"t{n}") for n in range(len(targets))), owner], ["main"], Diagnostics())
    answers = Answers(plan)
    for place, (_, what) in enumerate(targets):
        answers.record(place, Answer(chunk=plan.chunks[place], result=RESULTS[what], number=place))
    return plan, answers, len(targets)


def vote(kinds: dict[str, list[str]]) -> Vote:
    plan, answers, place = planned(kinds)
    return decide(plan, place, answers).vote


@pytest.mark.parametrize("kind", TABLE)
@pytest.mark.parametrize("what", RESULTS)
def test_one_target_decides_as_the_table_says(kind: str, what: str) -> None:
    assert vote({kind: [what]}) is TABLE[kind].get(what, TABLE[kind][""])


@pytest.mark.parametrize(
    ("kind", "whats", "wanted"),
    [
        ("require", ["ok", "failed"], FAIL),
        ("require_any", ["ok", "failed"], GO),
        ("require_any", ["skipped", "failed"], GO),
        ("watch", ["changed", "failed"], FAIL),
        ("watch_any", ["changed", "failed"], SIGNAL),
        ("watch_any", ["ok", "failed"], GO),
        ("onchanges", ["ok", "changed"], GO),
        ("onchanges", ["failed_changed", "ok"], HOLD),
        ("onfail", ["ok", "failed"], GO),
        ("onfail_all", ["ok", "failed"], HOLD),
        ("onfail_all", ["blocked", "failed"], GO),
    ],
)
def test_several_targets_of_one_kind_decide_together(kind: str, whats: list[str], wanted: Vote) -> None:
    assert vote({kind: whats}) is wanted
    assert vote({kind: whats[::-1]}) is wanted


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        ({"require": ["failed"], "onchanges": ["changed"]}, FAIL),
        ({"require": ["failed"], "onchanges": ["ok"]}, FAIL),
        ({"require": ["ok"], "onchanges": ["ok"]}, HOLD),
        ({"onfail": ["failed"], "onchanges": ["ok"]}, HOLD),
        ({"onfail": ["failed"], "onchanges": ["changed"]}, GO),
        ({"onfail": ["ok"], "onfail_any": ["failed"]}, GO),
        ({"onchanges": ["ok"], "onchanges_any": ["changed"]}, GO),
        ({"watch": ["changed"], "onchanges": ["ok"]}, HOLD),
        ({"watch": ["changed"], "onchanges": ["changed"]}, SIGNAL),
        ({"require_any": ["ok", "failed"], "require": ["failed"]}, FAIL),
        ({}, GO),
    ],
)
def test_all_kinds_have_to_agree(kinds: dict[str, list[str]], wanted: Vote) -> None:
    assert vote(kinds) is wanted


@pytest.mark.parametrize("kind", REQUISITES.values(), ids=lambda kind: kind.name)
def test_with_nobody_to_ask_a_kind_that_waits_for_an_occasion_holds(kind: object) -> None:
    row = REQUISITES[kind.name]  # type: ignore[attr-defined]
    assert row.decide(set()) is (HOLD if HOLD in row.first else GO)


def test_a_blocked_chunk_names_its_culprits_and_the_roots_sorted() -> None:
    chunks = [
        chunk("z_root", sls="b"),
        chunk("a_root", sls="b"),
        chunk("middle", requisites=[("require", "test", "z_root"), ("require", "test", "a_root")]),
        chunk("end", requisites=[("require", "test", "middle")]),
    ]
    plan = make_plan(chunks, ["main", "b"], Diagnostics())
    answers = Answers(plan)
    for place in (0, 1):
        answers.record(place, Answer(chunk=plan.chunks[place], result=failed("broken"), number=place))
    middle = blocked_result(plan, 2, decide(plan, 2, answers), answers)
    answers.record(2, Answer(chunk=plan.chunks[2], result=middle, number=2))
    end = blocked_result(plan, 3, decide(plan, 3, answers), answers)
    assert middle.comment == "requisite failed: b.a_root, b.z_root"
    assert end.comment == "requisite failed: main.middle (root cause: b.a_root, b.z_root)"
    assert end.extra["root_cause"] == [plan.chunks[0].tag, plan.chunks[1].tag]
