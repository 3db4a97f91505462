"""Plans that are kept: one digest for one plan, and everything that has moved is found."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import convert, json, to_builtins
from msgspec.structs import replace

from saltern.fleet.chains.dry_run import Answer, read_answer
from saltern.fleet.chains.estimate import estimate, took
from saltern.fleet.chains.saved_plan import (
    MOST_SHOWN,
    PlannedSystem,
    Present,
    SavedPlan,
    canonical,
    digest,
    find_moves,
    refuse_moved,
    used_facts,
)

names = st.text("abcdef1", min_size=1, max_size=4)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2),
    max_leaves=4,
)
facts = st.dictionaries(names, st.lists(values, max_size=1), max_size=4)
systems = st.dictionaries(
    names, st.builds(PlannedSystem, sha256=names, steps=st.just([]), facts=facts), min_size=1, max_size=4
)
plans = st.builds(
    SavedPlan,
    chain=names,
    version=st.integers(1, 9),
    version_sha256=names,
    follows=st.booleans(),
    target=names,
    pinned=st.booleans(),
    inputs=st.dictionaries(names, values, max_size=3),
    rollout=st.just({}),
    environment=st.just("base"),
    tree=names,
    systems=systems,
    unplanned=st.just({}),
    pillars=st.dictionaries(names, names, max_size=4),
)


def shuffled(value: Any, chance: random.Random) -> Any:
    """The same data with its keys in another order."""
    if isinstance(value, dict):
        keys = list(value)
        chance.shuffle(keys)
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(one, chance) for one in value] if isinstance(value, list) else value


def as_it_was(plan: SavedPlan) -> Present:
    """The world in which a plan was made."""
    known = {
        system: {name: value[0] for name, value in one.facts.items() if value}
        for system, one in plan.systems.items()
    }
    return Present(
        version=plan.version,
        version_sha256=plan.version_sha256,
        tree=plan.tree,
        systems=frozenset(plan.systems),
        facts=known,
        pillars=plan.pillars,
    )


@given(plans, st.data())
def test_52_each_system_whose_pillar_is_another_one_is_named(plan: SavedPlan, data: st.DataObject) -> None:
    plan = replace(plan, pillars=dict.fromkeys(plan.systems, "a"))
    changed = data.draw(st.sets(st.sampled_from(sorted(plan.systems))))
    gone = data.draw(st.sets(st.sampled_from(sorted(plan.systems))))
    pillars = {name: "b" if name in changed else "a" for name in plan.systems if name not in gone}
    found = find_moves(plan, replace(as_it_was(plan), pillars=pillars))
    assert {one.system for one in found} == changed | gone
    assert find_moves(replace(plan, pillars={}), replace(as_it_was(plan), pillars=pillars)) == [], "of before"


@given(plans, st.randoms(use_true_random=False))
def test_a_plan_has_one_digest_however_it_was_written_down(plan: SavedPlan, chance: random.Random) -> None:
    read = convert(json.decode(json.encode(shuffled(to_builtins(plan), chance))), SavedPlan)
    assert digest(read) == digest(plan)
    assert canonical(read) == canonical(plan)


@given(plans, plans)
def test_two_plans_have_one_digest_only_if_they_are_equal(one: SavedPlan, other: SavedPlan) -> None:
    assert (digest(one) == digest(other)) == (canonical(one) == canonical(other))


@given(plans, facts)
def test_52_nothing_has_moved_where_nothing_has_and_facts_that_were_not_read_do_not_count(
    plan: SavedPlan, more: dict[str, list[Any]]
) -> None:
    now = as_it_was(plan)
    assert find_moves(plan, now) == []
    unread = {
        system: {**{f"unread-{name}": value for name, value in more.items()}, **known}
        for system, known in now.facts.items()
    }
    assert find_moves(plan, replace(now, facts=unread)) == []


@given(plans, st.data())
def test_52_each_fact_that_was_read_is_named_when_it_moves(plan: SavedPlan, data: st.DataObject) -> None:
    system = data.draw(st.sampled_from(sorted(plan.systems)))
    if not plan.systems[system].facts:
        return
    name = data.draw(st.sampled_from(sorted(plan.systems[system].facts)))
    old = plan.systems[system].facts[name]
    new = data.draw(st.lists(values, max_size=1).filter(lambda value: value != old))
    now = as_it_was(plan)
    known = {key: value for key, value in now.facts[system].items() if key != name}
    known |= {name: new[0]} if new else {}
    (found,) = find_moves(plan, replace(now, facts={**now.facts, system: known}))
    assert (found.system, found.what) == (system, f"fact {name}")
    assert found.old != found.new or len(found.old) > 60


@given(plans, names)
def test_52_systems_that_come_count_unless_they_are_pinned_and_those_that_go_always(
    plan: SavedPlan, other: str
) -> None:
    now = as_it_was(plan)
    more = replace(now, systems=now.systems | {f"new-{other}"})
    assert [one.system for one in find_moves(plan, more)] == ([] if plan.pinned else [f"new-{other}"])
    gone = sorted(plan.systems)[0]
    found = find_moves(plan, replace(now, systems=now.systems - {gone}))
    assert [one.system for one in found] == [gone]


@given(plans)
def test_52_another_version_or_other_files_have_moved(plan: SavedPlan) -> None:
    now = as_it_was(plan)
    newer = find_moves(plan, replace(now, version=plan.version + 1, version_sha256="new"))
    assert [str(one) for one in newer] == (
        [f"version of chain {plan.chain!r} {plan.version} → {plan.version + 1}"] if plan.follows else []
    )
    assert len(find_moves(plan, replace(now, tree=f"{plan.tree}0"))) == 1


def test_52_a_refusal_names_all_that_has_moved_up_to_a_limit() -> None:
    known = {f"f{number:02}": [number] for number in range(30)}
    one = PlannedSystem(sha256="", steps=[], facts=known)
    plan = SavedPlan(
        chain="c", version=1, version_sha256="", follows=True, target="*", pinned=False, inputs={},
        rollout={}, environment="base", tree="", systems={"web1": one}, unplanned={"web2": "away"},
    )  # fmt: skip
    now = replace(as_it_was(plan), facts={"web1": {}}, systems=frozenset({"web1", "web2"}))
    found = find_moves(plan, now)
    assert str(found[0]) == "web1: fact f00 0 → absent"
    lines = [one.what for one in refuse_moved("0" * 64, found).diagnostics]
    assert len(lines) == MOST_SHOWN + 2
    assert lines[-1] == "and 10 more"


# -- what systems say ---------------------------------------------------------------------------------


def test_an_answer_of_another_leg_is_no_plan() -> None:
    body = {"plan_sha256": "x", "steps": []}
    assert "its version of saltern differs" in str(read_answer(Answer(status="returned", body=body), "y", {}))


@pytest.mark.parametrize("body", [None, 1, [], {}, {"steps": 1}, {"plan_sha256": "x", "steps": [1]}])
def test_what_cannot_be_read_is_a_reason(body: object) -> None:
    assert read_answer(Answer(status="returned", body=body), "x", {}) == "its answer cannot be read"


def test_a_job_that_failed_says_why_with_its_last_line() -> None:
    answer = Answer(status="refused", why="first\nthe deny list forbids it\n")
    assert read_answer(answer, "x", {}) == "it refused the dry run: the deny list forbids it"


def test_facts_that_were_read_are_kept_as_the_controller_knows_them() -> None:
    body = {"local": {"plan_sha256": "x", "steps": [], "facts": ["os", "role"]}}
    found = read_answer(Answer(status="returned", body=body), "x", {"os": "Debian", "mem": 1})
    assert isinstance(found, PlannedSystem)
    assert found.facts == {"os": ["Debian"], "role": []} == used_facts(["os", "role"], {"os": "Debian"})


# -- how long -----------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=200))
def test_percentiles_are_times_that_were_seen(seconds: list[float]) -> None:
    found = took(seconds)
    shown = {round(one, 3) for one in seconds}
    assert found.p50 in shown and found.p95 in shown and found.p50 <= found.p95 <= max(shown)
    assert sum(one <= found.p95 + 0.001 for one in seconds) >= 0.95 * len(seconds)


def test_waves_come_after_each_other_and_the_last_does_not_soak() -> None:
    history = {"a": [10.0], "b": [5.0, 5.0]}
    legs = {"w1": ["a", "b"], "w2": ["a"], "w3": ["a", "new"]}
    found = estimate(history, legs, [["w1"], ["w2", "w3"]], [60, 60], 3)
    assert found.run is not None
    assert (found.run.p50, found.run.of, found.unknown) == (15 + 60 + 10, 1, ["new"])
    narrow = estimate(history, legs, [["w1"], ["w2", "w3"]], [60, 60], 1)
    assert narrow.run is not None and narrow.run.p50 == 15 + 60 + 20
    assert estimate({}, legs, [["w1", "w2", "w3"]], [0], 3).run is None
