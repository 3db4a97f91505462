"""The order of a run, a second time: written from the seed's text alone, by plain recursion.

The low list is walked from the top. Before a state runs, what it names in require, require_any, watch,
watch_any, prereq, onfail and onchanges (in this order) is looked up in the list and runs first, if it has
not yet. What a state has a prereq on is only tried out before it, and runs after it. Small trees only.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

Low = dict[str, object]
Node = tuple[str, int]  # ("run" or "try", place in the low list)

KINDS = (
    "require",
    "require_any",
    "watch",
    "watch_any",
    "prereq",
    "onfail",
    "onfail_any",
    "onfail_all",
    "onchanges",
    "onchanges_any",
)


class Cycle(Exception):
    """A state that waits for itself."""


def tag(chunk: Low) -> tuple[str, str, str]:
    return str(chunk["state"]), str(chunk["__id__"]), str(chunk["name"])


def targets(low: Sequence[Low], item: object) -> list[int]:
    state, value = next(iter(item.items())) if isinstance(item, dict) else ("", item)
    if state == "sls":
        return [at for at, one in enumerate(low) if value == one["__sls__"] or value in _included_from(one)]
    same = [at for at, one in enumerate(low) if state in ("", "id", one["state"])]
    literal = [at for at in same if value in (low[at]["__id__"], low[at]["name"])]
    return literal or [
        at for at in same if any(fnmatchcase(str(low[at][key]), str(value)) for key in ("__id__", "name"))
    ]


def _included_from(chunk: Low) -> list[object]:
    files = chunk.get("__sls_included_from__", [])
    assert isinstance(files, list)
    return files


def _items(chunk: Low, kind: str) -> list[object]:
    items = chunk.get(kind, [])
    assert isinstance(items, list)
    return items


def before(low: Sequence[Low], node: Node) -> list[Node]:
    """What has to be done before this, in order."""
    what, at = node
    first: list[Node] = []
    for kind in KINDS:
        step = "try" if kind == "prereq" else "run"
        for item in _items(low[at], kind):
            first += [(step, one) for one in targets(low, item)]
    if what == "run":
        owners = [n for n, one in enumerate(low) if any(at in targets(low, i) for i in _items(one, "prereq"))]
        # Low data lists them in the order of their definition.
        listed = [
            next(iter(item.items())) for item in _items(low[at], "prerequired") if isinstance(item, dict)
        ]
        owners.sort(key=lambda n: listed.index((low[n]["state"], low[n]["__id__"])) if listed else n)
        first += [("run", owner) for owner in owners]
    return first


def walked(low: Sequence[Low]) -> list[tuple[str, str, str]]:
    """The states in the order in which they run. Raises ``Cycle``."""
    done: list[Node] = []

    def do(node: Node, open_: tuple[Node, ...]) -> None:
        if node in done:
            return
        if node in open_:
            raise Cycle
        for earlier in before(low, node):
            do(earlier, (*open_, node))
        done.append(node)

    for at in range(len(low)):
        do(("run", at), ())
    return [tag(low[at]) for what, at in done if what == "run"]


def on_cycles(low: Sequence[Low]) -> list[set[str]]:
    """For each state that waits for itself: the IDs it shares its cycles with."""
    nodes: list[Node] = [(what, at) for what in ("run", "try") for at in range(len(low))]
    reach = {node: _reached(low, node) for node in nodes}
    groups = [
        {other for other in reach[node] if node in reach[other]} for node in nodes if node in reach[node]
    ]
    return [{str(low[at]["__id__"]) for _, at in group} for group in groups]


def _reached(low: Sequence[Low], start: Node) -> set[Node]:
    seen: set[Node] = set()
    left = before(low, start)
    while left:
        node = left.pop()
        if node not in seen:
            seen.add(node)
            left += before(low, node)
    return seen
