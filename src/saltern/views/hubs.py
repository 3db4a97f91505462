"""Draws a hub, a state that many others wait for, several times, so that the picture is not one tangle.

Parts of a picture that are connected only by a hub are separated, each with a copy of the hub in front.
"""

from __future__ import annotations

from collections.abc import Iterable

from saltern.views.picture import Edge, Item, Picture

WAITING = 6  # states that wait for it
PARTS = 4  # parts that they are in without it
COPY = "drawn elsewhere, too"


def apart(picture: Picture) -> Picture:
    """The picture with copies of its hubs; itself, if it has none."""
    known = {item.key: item for item in picture.items}
    ends: dict[str, set[str]] = {}
    for edge in picture.edges:
        if edge.start in known and edge.end in known and known[edge.start].inside is None:
            ends.setdefault(edge.start, set()).add(edge.end)
    hubs = [key for key, some in ends.items() if len(some) >= WAITING]
    parts = part_of(known, (edge for edge in picture.edges if edge.start not in hubs))
    hubs = [hub for hub in hubs if len(_foreign(hub, ends[hub], parts)) >= PARTS]
    if not hubs:
        return picture
    return _copy_hubs(
        picture, hubs, part_of(known, (edge for edge in picture.edges if edge.start not in hubs))
    )


def part_of(keys: Iterable[str], edges: Iterable[Edge]) -> dict[str, str]:
    """For each key, the key that represents its connected part."""
    parent = {key: key for key in keys}

    def root(key: str) -> str:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for edge in edges:
        if edge.start in parent and edge.end in parent:
            parent[root(edge.end)] = root(edge.start)
    return {key: root(key) for key in parent}


def _foreign(hub: str, ends: Iterable[str], parts: dict[str, str]) -> set[str]:
    """The parts with at least two states that wait for the hub and do not contain it."""
    sizes: dict[str, int] = {}
    for part in parts.values():
        sizes[part] = sizes.get(part, 0) + 1
    return {parts[end] for end in ends if parts[end] != parts[hub] and sizes[parts[end]] > 1}


def _copy_hubs(picture: Picture, hubs: list[str], parts: dict[str, str]) -> Picture:
    known = {item.key: item for item in picture.items}
    foreign = {
        hub: _foreign(
            hub, (edge.end for edge in picture.edges if edge.start == hub and edge.end in parts), parts
        )
        for hub in hubs
    }
    copies: dict[str, dict[str, Item]] = {}
    edges: list[Edge] = []
    for edge in picture.edges:
        part = parts.get(edge.end, "")
        if part in foreign.get(edge.start, ()):
            copy = copies.setdefault(part, {}).setdefault(edge.start, _copy(known[edge.start], part))
            edge = Edge(edge.kind, copy.key, edge.end)
        edges.append(edge)
    items: list[Item] = []
    for item in picture.items:  # a copy comes before the first item of its part
        items += copies.pop(parts[item.key], {}).values()
        items.append(item)
    return Picture(items=items, edges=edges)


def _copy(hub: Item, part: str) -> Item:
    key = f"{hub.key}~{part}"
    return Item(
        key=key, kind="copy", title=hub.title, below=COPY, number=hub.number, status=hub.status, of=hub.key
    )
