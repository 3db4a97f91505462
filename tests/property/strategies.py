"""Random trees: several files, includes, every kind of requisite, names and order flags.

States stand on a random ladder and mostly wait for those below them, so that most trees compile; now and
then one waits for anybody, which may be a cycle.
"""

from __future__ import annotations

import json

from hypothesis import strategies as st

WAITING = (
    "require",
    "require_any",
    "watch",
    "watch_any",
    "onfail",
    "onfail_any",
    "onfail_all",
    "onchanges",
    "onchanges_any",
)
REVERSE = ("require_in", "watch_in", "onfail_in", "onchanges_in")
TYPES = ("rec", "alt")
FUNCTIONS = ("fine", "changes", "fails", "fails_late", "fine", "changes")
ORDERS = (1, 5, 10001, 10002, 10002, -1, "first", "last", "3", 1.5)

Body = dict[str, object]
Files = dict[str, str]


class State:
    """One state to be written down; ``rank`` is its place on the ladder."""

    def __init__(self, id_: str, kind: str, rank: int) -> None:
        self.id = id_
        self.kind = kind
        self.rank = rank
        self.fun = "fine"
        self.args: list[dict[str, object]] = []
        self.members: list[str] = []

    def require(self, kind: str, item: object) -> None:
        for arg in self.args:
            if kind in arg:
                arg[kind].append(item)  # type: ignore[attr-defined]
                return
        self.args.append({kind: [item]})

    def names(self) -> list[str]:
        return [self.id, *self.members]

    def written(self) -> Body:
        more: list[dict[str, object]] = [{"names": self.members}] if self.members else []
        return {f"{self.kind}.{self.fun}": [*more, *self.args]}


def text(data: Body) -> str:
    return "".join(f"{json.dumps(key)}: {json.dumps(value)}\n" for key, value in data.items())


@st.composite
def trees(draw: st.DrawFn, *, prefix: str = "", wild: bool = True, most: int = 8) -> Files:
    """Files of a tree; ``{prefix}main.sls`` includes all others. ``wild``: it need not compile."""
    count = draw(st.integers(1, most))
    ranks = draw(st.permutations(range(count)))
    states = [State(f"{prefix}s{at}", draw(st.sampled_from(TYPES)), ranks[at]) for at in range(count)]
    for state in states:
        _dress(draw, state)
    for state in states:
        for _ in range(draw(st.integers(0, 2))):
            _link(draw, state, states, wild and draw(st.integers(0, 15)) == 0)
    files = draw(st.integers(1, 3))
    homes = [draw(st.integers(0, files - 1)) for _ in states]
    return _files(draw, prefix, states, homes, files)


def _dress(draw: st.DrawFn, state: State) -> None:
    state.fun = draw(st.sampled_from(FUNCTIONS))
    if draw(st.integers(0, 4)) == 0:
        state.members = [f"{state.id}-{letter}" for letter in draw(st.sampled_from(["ab", "ba", "abc"]))]
    if draw(st.integers(0, 4)) == 0:
        state.args.append({"order": draw(st.sampled_from(ORDERS))})


def _link(draw: st.DrawFn, state: State, states: list[State], anybody: bool) -> None:
    below = [one for one in states if one.rank < state.rank]
    above = [one for one in states if one.rank > state.rank]
    kind = draw(st.sampled_from(["waiting", "waiting", "reverse", "prereq", "prereq_in", "listen"]))
    pool = states if anybody or kind == "listen" else above if kind in ("reverse", "prereq") else below
    if not pool:
        return
    target = draw(st.sampled_from(pool))
    words = {"waiting": WAITING, "reverse": REVERSE}.get(kind, (kind,))
    state.require(draw(st.sampled_from(words)), _reference(draw, target))


def _reference(draw: st.DrawFn, target: State) -> object:
    name = draw(st.sampled_from(target.names()))
    return draw(st.sampled_from([{target.kind: name}, name, {"id": name}, {target.kind: f"{target.id}*"}]))


def _files(draw: st.DrawFn, prefix: str, states: list[State], homes: list[int], files: int) -> Files:
    names = [f"{prefix}main", *(f"{prefix}part{at}" for at in range(1, files))]
    bodies: list[Body] = [{} for _ in names]
    for state, home in zip(states, homes, strict=True):
        bodies[home][state.id] = state.written()
    for at in range(1, files):
        parent = draw(st.integers(0, at - 1))
        listed = bodies[parent].setdefault("include", [])
        assert isinstance(listed, list)
        listed.append(names[at])
    if files > 1 and states and draw(st.booleans()):
        # A state of the main file may wait for a whole file that it includes.
        waits = State(f"{prefix}whole", "rec", 0)
        kind = draw(st.sampled_from(["require", "watch", "onchanges", "onfail", "require_any"]))
        waits.require(kind, {"sls": draw(st.sampled_from(names[1:]))})
        bodies[0][waits.id] = waits.written()
    return {f"{name}.sls": text(body) for name, body in zip(names, bodies, strict=True)}
