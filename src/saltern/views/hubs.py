"""A state that half of the tree waits for would tie everything into one tangle: it is drawn several times.

Parts of a picture that only such a hub holds together stand apart, each with a copy of the hub in front.
"""

from __future__ import annotations

from collections.abc import Iterable

from saltern.views.picture import Edge, Item, Picture

WAITING = 6  # so many wait for it
PARTS = 4  # and they are so many parts without it
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
    return _copied(picture, hubs, part_of(known, (edge for edge in picture.edges if edge.start not in hubs)))


def part_of(keys: Iterable[str], edges: Iterable[Edge]) -> dict[str, str]:
    """For each key, one that stands for all that hang together with it."""
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
    """The parts, of two states at least, that wait for the hub and are not its own."""
    sizes: dict[str, int] = {}
    for part in parts.values():
        sizes[part] = sizes.get(part, 0) + 1
    return {parts[end] for end in ends if parts[end] != parts[hub] and sizes[parts[end]] > 1}


def _copied(picture: Picture, hubs: list[str], parts: dict[str, str]) -> Picture:
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
    for item in picture.items:  # a copy stands before the first of its part
        items += copies.pop(parts[item.key], {}).values()
        items.append(item)
    return Picture(items=items, edges=edges)


def _copy(hub: Item, part: str) -> Item:
    key = f"{hub.key}~{part}"
    return Item(
        key=key, kind="copy", title=hub.title, below=COPY, number=hub.number, status=hub.status, of=hub.key
    )
