"""The plan: sequence, cycles, parts and groups."""

from __future__ import annotations

import pytest
from tests.kit import chunk

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import CompileError, Diagnostics
from saltern.plan.make import make_plan
from saltern.plan.plan import Plan
from saltern.plan.subset import subset


def plan(*chunks: Chunk, files: tuple[str, ...] = ("main",)) -> Plan:
    return make_plan(chunks, files, Diagnostics())


def sequence(made: Plan) -> list[str]:
    """``~id`` is a rehearsal."""
    return [made.chunks[step].id if step >= 0 else "~" + made.chunks[~step].id for step in made.sequence]


def cycle(*chunks: Chunk) -> str:
    with pytest.raises(CompileError) as problem:
        plan(*chunks)
    (only,) = problem.value.diagnostics
    assert only.code == "requisite-cycle"
    return only.what


def test_without_requisites_the_sequence_is_the_low_list() -> None:
    made = plan(chunk("a"), chunk("b"))
    assert (made.sequence, made.needs) == ([0, 1], {})


def test_a_chain_may_be_as_long_as_the_run() -> None:
    many = 20_000
    chunks = [chunk(f"c{n}", requisites=[("require", "test", f"c{n + 1}")]) for n in range(many)]
    made = plan(*chunks, chunk(f"c{many}"))
    assert made.sequence == list(range(many, -1, -1))


def test_a_prereq_rehearses_its_target_before_the_owner() -> None:
    made = plan(chunk("target"), chunk("owner", requisites=[("prereq", "test", "target")]))
    assert sequence(made) == ["~target", "owner", "target"]


def test_several_owners_prepare_for_one_target() -> None:
    made = plan(
        chunk("target", requisites=[("require", "test", "base")]),
        chunk("one", requisites=[("prereq", "test", "target")]),
        chunk("two", requisites=[("prereq", "test", "target")]),
        chunk("base"),
    )
    assert sequence(made) == ["base", "~target", "one", "two", "target"]


def test_pulled_forward_tells_by_whom() -> None:
    made = plan(chunk("a", requisites=[("require", "test", "c")]), chunk("b"), chunk("c"))
    assert {made.chunks[index].id: made.chunks[by].id for index, by in made.pulled_by.items()} == {"c": "a"}


def test_many_who_require_one_file_share_one_step() -> None:
    members = [chunk(f"m{n}", sls="other") for n in range(50)]
    owners = [chunk(f"o{n}", requisites=[("require", "sls", "other")]) for n in range(50)]
    made = plan(*owners, *members, files=("main", "other"))
    assert len(made.joins) == 1
    assert all(len(needs) == 1 for needs in made.needs.values())
    assert sequence(made) == [one.id for one in (*members, *owners)]


def test_listeners_are_in_the_order_of_their_declaration_and_do_not_order() -> None:
    made = plan(
        chunk("a", requisites=[("listen", "test", "c")]),
        chunk("b", requisites=[("listen_in", "test", "a")]),
        chunk("c"),
    )
    assert [(made.chunks[one.index].id, made.chunks[one.to].id) for one in made.listeners] == [
        ("a", "c"),
        ("a", "b"),
    ]
    assert sequence(made) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("chunks", "told"),
    [
        ([chunk("a", requisites=[("require", "test", "a")])], "a has require on a"),
        (
            [chunk("a", requisites=[("watch", "", "b")]), chunk("b", requisites=[("onfail", "test", "a")])],
            "a has watch on b; b has onfail on a",
        ),
        (
            [
                chunk("outside", requisites=[("require", "test", "a")]),
                chunk("a", requisites=[("require", "test", "b")]),
                chunk("b", requisites=[("onchanges", "test", "c")]),
                chunk("c", requisites=[("require_any", "test", "a")]),
            ],
            "a has require on b; b has onchanges on c; c has require_any on a",
        ),
        ([chunk("a", requisites=[("require", "sls", "main")])], "sls main (with a in it)"),
        ([chunk("a", requisites=[("prereq", "test", "a")])], "a has prereq on a"),
    ],
)
def test_a_cycle_is_reported_as_a_story_of_its_own_states(chunks: list[Chunk], told: str) -> None:
    what = cycle(*chunks)
    assert told in what
    assert "outside" not in what


def test_a_cycle_through_a_prereq_is_found() -> None:
    what = cycle(
        chunk("owner", requisites=[("prereq", "test", "target")]),
        chunk("target", requisites=[("require", "test", "owner2")]),
        chunk("owner2", requisites=[("require", "test", "owner")]),
    )
    assert "owner has prereq on target" in what


def test_all_unknown_targets_are_reported_together() -> None:
    with pytest.raises(CompileError) as problem:
        plan(
            chunk("a", requisites=[("require", "test", "x"), ("watch", "test", "y")]),
            chunk("b", requisites=[("listen", "test", "z"), ("prereq", "test", "w")]),
        )
    assert sorted(one.what.split("names ")[1].split(",")[0] for one in problem.value.diagnostics) == [
        f"test {name!r}" for name in "wxyz"
    ]


def test_a_part_of_a_plan_has_all_that_runs_before_it() -> None:
    made = plan(
        chunk("a"),
        chunk("b", requisites=[("require", "test", "c"), ("prereq", "test", "d")]),
        chunk("c", requisites=[("require", "sls", "other")]),
        chunk("d"),
        chunk("e", sls="other"),
        files=("main", "other"),
    )
    assert sequence(subset(made, [1])) == ["e", "c", "~d", "b"]
    assert sequence(subset(made, [0])) == ["a"]


def test_a_group_is_done_together_and_required_as_one() -> None:
    chunks = [
        chunk("p1", state="pkg"),
        chunk("user", requisites=[("require", "pkg", "p1")]),
        chunk("p2", state="pkg"),
        chunk("p3", state="pkg", requisites=[("require", "test", "user")]),
    ]
    made = make_plan(chunks, ["main"], Diagnostics(), lambda one: one.state == "pkg")
    assert made.groups == {0: (0, 2), 2: (0, 2)}  # p3 waits for p1, however indirectly
    assert sequence(made) == ["p1", "p2", "user", "p3"]


def test_patterns_on_either_side_are_one_step_for_all_they_match() -> None:
    def steps(many: int) -> int:
        targets = [chunk(f"t{at}", order=at) for at in range(many)]
        asking = [
            chunk(f"o{at}", order=many + at, requisites=[("require", "test", "t*")]) for at in range(many)
        ]
        added = [
            chunk(f"i{at}", order=-at, requisites=[("require_in", "test", "t*")], require_in=["t*"])
            for at in range(many)
        ]
        plan = make_plan([*added, *targets, *asking], ["main"], Diagnostics())
        assert sorted(plan.sequence) == list(range(3 * many))
        assert max(plan.sequence.index(at) for at in range(many)) < min(
            plan.sequence.index(at) for at in range(many, 2 * many)
        )
        return sum(len(needs) for needs in plan.needs.values())

    assert steps(80) == 4 * steps(20)
