"""Folds a plan that is too large to draw: consecutive states of a file become one item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from saltern.plan.plan import Plan
from saltern.plan.reasons import ties
from saltern.views.picture import Edge, Item, Picture, of_plan

MOST_DRAWN = 3000  # states, each an item of its own
MOST_GROUPS = 1000


def picture_of(plan: Plan) -> Picture:
    """The picture of a plan: state by state, or folded if there are too many."""
    return fold_plan(plan) if len(plan.chunks) > MOST_DRAWN else of_plan(plan)


def fold_plan(plan: Plan, prefix: str = "") -> Picture:
    return of_groups(plan, groups_of(plan, [step for step in plan.sequence if step >= 0]), prefix)


def groups_of(plan: Plan, sequence: Sequence[int]) -> list[Sequence[int]]:
    """Groups of consecutive states of one file; if that gives too many, of any consecutive states."""
    groups: list[Sequence[int]] = list(_by_file(plan, sequence))
    if len(groups) > MOST_GROUPS:
        size = -(-len(sequence) // MOST_GROUPS)
        groups = [sequence[at : at + size] for at in range(0, len(sequence), size)]
    return groups


def of_groups(plan: Plan, groups: Sequence[Sequence[int]], prefix: str = "") -> Picture:
    """A picture with one item for each group, and one edge of each kind between two groups."""
    home = {index: at for at, indexes in enumerate(groups) for index in indexes}
    picture = Picture(items=[_item(plan, indexes, f"{prefix}{at}") for at, indexes in enumerate(groups)])
    picture.edges += dict.fromkeys(_edges(plan, home, prefix))
    return picture


def _by_file(plan: Plan, sequence: Sequence[int]) -> Iterator[list[int]]:
    group: list[int] = []
    for index in sequence:
        if group and plan.chunks[index].sls != plan.chunks[group[0]].sls:
            yield group
            group = []
        group.append(index)
    if group:
        yield group


def _item(plan: Plan, indexes: Sequence[int], key: str) -> Item:
    chunks = [plan.chunks[index] for index in indexes]
    files = list(dict.fromkeys(chunk.sls for chunk in chunks))
    title = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    below = f"{len(chunks)} states" if len(chunks) > 1 else chunks[0].id
    return Item(key=key, kind="sls", title=title, below=below)


def _edges(plan: Plan, home: dict[int, int], prefix: str) -> Iterator[Edge]:
    size = len(plan.chunks)
    members = [
        sorted({home[index] for index in plan.behind(step) if index in home})
        for step in range(size, size + len(plan.joins))
    ]
    known: set[tuple[str, int, int]] = set()
    for tie in ties(plan):
        ends = [
            members[step - size] if step >= size else [home.get(step)] for step in (tie.before, tie.after)
        ]
        for group, after in product(*ends):
            if group is None or after is None or group >= after or (tie.kind, group, after) in known:
                continue
            known.add((tie.kind, group, after))
            yield Edge(tie.kind, f"{prefix}{group}", f"{prefix}{after}")
