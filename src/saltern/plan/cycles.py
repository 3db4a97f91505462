"""Describe a cycle link by link: a requires b requires a, with the lines that say so."""

from __future__ import annotations

from collections.abc import Sequence

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics
from saltern.language.source import Mark
from saltern.plan.matcher import SLS

MOST_NAMED = 20


def report_cycle(
    chunks: Sequence[Chunk],
    cycle: Sequence[int],
    size: int,
    found: Diagnostics,
) -> None:
    """``cycle`` is a list of steps, each of which waits for the next, and the last for the first."""
    indexes = [~step if step < 0 else step for step in cycle if step < size]
    indexes = [index for at, index in enumerate(indexes) if at == 0 or index != indexes[at - 1]]
    if len(indexes) > 1 and indexes[0] == indexes[-1]:
        indexes.pop()
    owners = [chunks[index] for index in indexes]
    shown = owners[:MOST_NAMED]
    story = [_link(owner, owners[(at + 1) % len(owners)]) for at, owner in enumerate(shown)]
    rest = (
        f"; and {len(owners) - len(shown)} more, back to {owners[0].id}" if len(owners) > len(shown) else ""
    )
    found.error(
        "requisite-cycle",
        "these states wait for each other: " + "; ".join(text for text, _ in story) + rest,
        where=story[0][1],
        fix=_advice(shown),
        also=tuple((text, mark) for text, mark in story[1:]),
    )


def _advice(owners: Sequence[Chunk]) -> str:
    if any(one.state == SLS for owner in owners for one in owner.requisites):
        return (
            "name the states that are needed instead of the whole file, with all it includes"
            " (Salt 3006 runs some such circles; 3008 refuses them, too)"
        )
    return "remove one of these requisites"


def _link(owner: Chunk, target: Chunk) -> tuple[str, Mark]:
    """How the owner came to wait for the target."""
    for one in owner.requisites:
        if one.value in (target.id, target.name) and one.state in ("", target.state):
            return f"{owner.id} has {one.kind} on {target.id}", owner.mark(one.kind, one.at)
    for one in target.requisites:
        if one.kind == "prereq" and one.value in (owner.id, owner.name):
            return f"{target.id} has prereq on {owner.id}", target.mark("prereq", one.at)
    for one in owner.requisites:
        if one.state == "sls":
            return f"{owner.id} has {one.kind} on sls {one.value} (with {target.id} in it)", owner.mark(
                one.kind, "sls"
            )
    kind = next((one.kind for one in owner.requisites), "requisite")
    return f"{owner.id} has {kind} on {target.id}", owner.mark(kind)
