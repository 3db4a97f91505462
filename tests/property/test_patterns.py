"""Patterns, joined into one step for many, beside the same tree with every name spelled out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st
from tests import kit

from saltern.engine.apply import apply
from saltern.engine.show import show_plan
from saltern.language.diagnostics import CompileError, Diagnostics
from saltern.plan import resolve
from saltern.plan.plan import Plan
from saltern.plan.subset import subset

usual = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
REQUEST = {"sls": ("main",)}
KINDS = ("require", "watch", "onchanges", "onfail", "prereq", "use", "listen")
FORMS = (*KINDS, *(f"{kind}_in" for kind in KINDS))
FUNCTIONS = ("nop", "succeed_with_changes", "fail_without_changes", "succeed_without_changes")
PATTERNS = ("a*", "b*", "*1", "?2", "[ab]3")
States = dict[str, dict[str, list[dict[str, object]]]]


@st.composite
def states(draw: st.DrawFn, forms: Sequence[str] = FORMS) -> States:
    """Each has at most one requisite, which is a pattern; all of a tree have the same form."""
    form = draw(st.sampled_from(forms))
    ids = draw(st.permutations([f"{letter}{number}" for letter in "abc" for number in range(4)]))
    made: States = {}
    for id_ in ids[: draw(st.integers(2, 12))]:
        args: list[dict[str, object]] = [
            {name: f"{id_}.{name}"} for name in draw(st.sets(st.sampled_from(["one", "two", "three"])))
        ]
        if id_.startswith("c") and draw(st.integers(0, 3)):
            args.append({form: [{"test": draw(st.sampled_from(PATTERNS))}]})
        made[id_] = {f"test.{draw(st.sampled_from(FUNCTIONS))}": args}
    return made


def spelled_out(made: States) -> States:
    """Each pattern becomes the names that it means, as they stand in the file."""

    def item(own: str, one: dict[str, object]) -> dict[str, object]:
        ((word, value),) = one.items()
        if not isinstance(value, list):
            return one
        meant = [id_ for id_ in made if fnmatchcase(id_, value[0]["test"])]
        return {word: [{"test": id_} for id_ in meant if id_ != own or not word.endswith("_in")]}

    return {
        id_: {fun: [item(id_, one) for one in args] for fun, args in body.items()}
        for id_, body in made.items()
    }


def seen(made: States, few: int) -> tuple[object, ...]:
    """The order, what each state is called with, and how it came out."""
    with planned(made, few) as (tree, plan):
        report = apply(tree.session(), kit.request_for({}, REQUEST))
    called = [
        {key: value for key, value in chunk.low().items() if key.partition("_in")[0] not in KINDS}
        for chunk in plan.chunks
    ]
    ran = [(one.chunk.id, one.result.outcome, one.result.ran, one.result.comment) for one in report.answers]
    return [plan.chunks[step].id for step in plan.sequence if step >= 0], called, ran


@contextmanager
def planned(made: States, few: int) -> Iterator[tuple[kit.Tree, Plan]]:
    """Patterns of more than ``few`` names are joins within."""
    with patch.object(resolve, "FEW", few), kit.tree({"main.sls": json.dumps(made)}) as tree:
        found = Diagnostics()
        plan = show_plan(tree.session(), kit.request_for({}, REQUEST), found)
        found.check()
        yield tree, plan


REACHES_ITSELF: States = {
    "a2": {"test.nop": []},
    "c2": {"test.succeed_with_changes": [{"listen_in": [{"test": "?2"}]}]},
}


@usual
@given(states())
@example(REACHES_ITSELF)
def test_a_join_is_the_same_as_all_its_members(made: States) -> None:
    try:
        spelled = seen(spelled_out(made), 10**6)
    except CompileError:
        with pytest.raises(CompileError):
            seen(made, 1)
        event("a circle")
        return
    assert seen(made, 1) == seen(made, 10**6) == spelled


def _plan(made: States, few: int) -> Plan:
    with patch.object(resolve, "FEW", few), kit.tree({"main.sls": json.dumps(made)}) as tree:
        return show_plan(tree.session(), kit.request_for({}, REQUEST), Diagnostics())


def _listening(plan: Plan) -> list[tuple[int, int]]:
    """Who listens to whom, of the states that the plan runs."""
    runs = {step for step in plan.sequence if step >= 0}
    pairs = [
        (index, to)
        for one in plan.listeners
        for index in plan.behind(one.index)
        for to in plan.behind(one.to)
    ]
    return [(index, to) for index, to in pairs if to in runs]


@usual
@given(states(forms=("listen", "listen_in")), st.data())
def test_a_part_of_a_plan_has_the_listeners_among_its_states(made: States, data: st.DataObject) -> None:
    wanted = data.draw(st.lists(st.integers(0, len(made) - 1), unique=True))
    joined, plain = (_listening(subset(_plan(made, few), wanted)) for few in (1, 10**6))
    assert joined == plain
    assert {index for index, _ in joined} <= set(wanted)


def _needs(made: States) -> Iterator[int]:
    plan = _plan(made, 2)
    yield sum(map(len, plan.needs.values()))
    yield sum(map(len, plan.joins))
    yield sum(map(len, plan.preparers.values()))
    yield len(plan.listeners) + len(plan.answer_chunks())
    yield sum(len(chunk.requisites) for chunk in plan.chunks)


@pytest.mark.parametrize("form", FORMS)
def test_what_is_kept_of_a_pattern_grows_with_the_states_and_not_with_their_product(form: str) -> None:
    def tree(many: int) -> States:
        owners: States = {f"o{at}": {"test.nop": [{form: [{"test": "t*"}]}]} for at in range(many)}
        return {**owners, **{f"t{at}": {"test.nop": [{"colour": at}]} for at in range(many)}}

    small, large = (list(_needs(tree(many))) for many in (20, 80))
    assert all(big <= 4 * little + 4 for little, big in zip(small, large, strict=True))
