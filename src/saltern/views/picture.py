"""The content of a picture of a plan, without its layout.

A picture has items and edges. An item may contain a picture: a delayed scope is a box.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, field, to_builtins

from saltern.language.chunk import HIDDEN, Chunk
from saltern.language.delayed import Target
from saltern.plan.plan import Plan
from saltern.plan.reasons import ties
from saltern.views.explain import Explainer, labels

DELAYED = "delayed"  # the kind of an edge from a state to what is rendered after it
_ID_LINE = re.compile(r"^['\"]?([^\s#{%'\"-][^'\"]*?)['\"]?:\s*(?:#.*)?$", re.MULTILINE)


class Item(Struct, kw_only=True):
    """``kind`` is state, sls (a whole file that is waited for), box, unborn (in a block not rendered yet) or
    copy (of the item with the key ``of``, drawn once more).

    ``status`` is the result in a finished run; ``facts`` are shown on a click.
    """

    key: str
    kind: str
    title: str
    below: str = ""
    number: int = 0
    status: str = ""
    facts: dict[str, object] = field(default_factory=dict)
    inside: Picture | None = None
    of: str = ""


class Edge(Struct, frozen=True):
    """From what runs first to what runs later."""

    kind: str
    start: str
    end: str


class Picture(Struct, kw_only=True):
    items: list[Item] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)

    def every(self) -> Iterator[Item]:
        """All items; those in a box follow their box."""
        for item in self.items:
            yield item
            if item.inside is not None:
                yield from item.inside.every()

    def every_edge(self) -> Iterator[Edge]:
        yield from self.edges
        for item in self.items:
            if item.inside is not None:
                yield from item.inside.every_edge()


def of_plan(plan: Plan, *, prefix: str = "", boxes: bool = True) -> Picture:
    """The picture of a plan. ``prefix`` keeps the keys of scopes distinct; ``boxes``: with boxes for blocks
    that are not rendered yet.
    """
    picture = Picture()
    explainer = Explainer(plan)
    for index in (step for step in plan.sequence if step >= 0):
        picture.items.append(_state(explainer, index, prefix))
        if boxes:
            _add_boxes(picture, plan.chunks[index], f"{prefix}{index}")
    for step, name in plan.join_names.items():
        picture.items.append(_file(plan, step, name, prefix))
        members = plan.joins[step - len(plan.chunks)]
        picture.edges += [_member(one, step, prefix) for one in members]
    known = {Edge(tie.kind, f"{prefix}{tie.before}", f"{prefix}{tie.after}"): None for tie in ties(plan)}
    picture.edges += known
    return picture


def _state(explainer: Explainer, index: int, prefix: str) -> Item:
    chunk = explainer.plan.chunks[index]
    one = explainer.explain(index)
    facts = to_builtins(one)
    for relations in (facts["waits_for"], facts["waited_for_by"]):
        for relation in relations:
            relation["key"] = f"{prefix}{relation.pop('step')}"
    title, below = labels(chunk)
    return Item(
        key=f"{prefix}{index}", kind="state", title=title, below=below, number=one.position, facts=facts
    )


def _member(one: int, step: int, prefix: str) -> Edge:
    """The edge between a join and a member: a rehearsed member runs after the join, others before it."""
    before, after = (step, ~one) if one < 0 else (one, step)
    return Edge("member", f"{prefix}{before}", f"{prefix}{after}")


def _file(plan: Plan, step: int, name: str, prefix: str) -> Item:
    count = len(plan.joins[step - len(plan.chunks)])
    below = "1 state" if count == 1 else f"{count} states"
    return Item(key=f"{prefix}{step}", kind="sls", title=f"all of {name}", below=below)


def _add_boxes(picture: Picture, chunk: Chunk, key: str) -> None:
    for at, target in enumerate(chunk.delayed):
        picture.items.append(_unborn_box(target, f"{key}>{at}"))
        picture.edges.append(Edge(DELAYED, key, f"{key}>{at}"))


def _unborn_box(target: Target, key: str) -> Item:
    """A box for a block that is not rendered yet: its text, and the IDs that are written in it."""
    text = target.block.text if target.block is not None else str(getattr(target.source, "text", ""))
    if "no_log" in text:
        text = HIDDEN
    ids = list(dict.fromkeys(_ID_LINE.findall(text)))
    inside = Picture(
        items=[
            Item(key=f"{key}.{at}", kind="unborn", title=id_, below="not rendered yet")
            for at, id_ in enumerate(ids)
            if id_ not in ("include", "extend", "exclude")
        ]
    )
    when = "" if target.when == "success" else f", when: {target.when}"
    facts: dict[str, object] = {"where": str(target.place()), "text": text.strip("\n")}
    return Item(
        key=key,
        kind="box",
        title=f"{target.kind} {target.name}",
        below=f"rendered later{when}",
        facts=facts,
        inside=inside,
    )
