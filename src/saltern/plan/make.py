"""Chunks → Plan.

The rule: walk the low list from the top; before a chunk runs, what it requires and has
not run yet runs first, depth first, requisites in the order of their kinds, targets in the order of
the list. A prereq's target is rehearsed before the owner and runs after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from saltern.language.chunk import Chunk, Requisite
from saltern.language.diagnostics import Diagnostics
from saltern.language.requisites import ORDERING, RequisiteKind, When
from saltern.plan.index import SLS, Index, described, is_pattern
from saltern.plan.plan import Listener, Need, Plan, steps_before


def make_plan(
    chunks: Sequence[Chunk],
    rendered: Sequence[str],
    found: Diagnostics,
    aggregates: Callable[[Chunk], bool] | None = None,
    *,
    elsewhere: Callable[[str], str] | None = None,
) -> Plan:
    """Raises ``CompileError`` for unknown targets and cycles, all of a kind together.

    ``aggregates`` says which chunks want to be done together with others of their kind; ``elsewhere``
    where a target is that is not in this scope, if it is known.
    """
    plan = Plan(chunks=list(chunks), rendered=tuple(rendered))
    related = any(chunk.requisites for chunk in chunks)
    if related:
        _Resolver(plan, rendered, found, elsewhere).all()
        found.check()
    if aggregates is not None:
        if related:
            _sequence(plan, found)  # a cycle is told before anybody asks what can be reached
            found.check()
        from saltern.plan.aggregate import group

        group(plan, aggregates)
        plan.sequence, plan.pulled_by = [], {}
    if related:
        _sequence(plan, found)
        found.check()
    else:
        plan.sequence = list(range(len(chunks)))
    return plan


class _Resolver:
    """References become places."""

    def __init__(
        self,
        plan: Plan,
        rendered: Sequence[str],
        found: Diagnostics,
        elsewhere: Callable[[str], str] | None,
    ) -> None:
        self.plan = plan
        self.found = found
        self.elsewhere = elsewhere
        self.index = Index(plan.chunks, rendered)
        self.barriers: dict[str, int] = {}
        self.preparers: dict[int, list[int]] = {}

    def all(self) -> None:
        for place, chunk in enumerate(self.plan.chunks):
            if chunk.requisites:
                self.one(place, chunk)
        opened = {name: at for at, name in enumerate(self.index.rendered)}
        declared = [(opened.get(chunk.sls, 0), chunk.declared.order or 0) for chunk in self.plan.chunks]
        self.plan.preparers = {
            place: tuple(sorted(owners, key=lambda owner: declared[owner]))
            for place, owners in self.preparers.items()
        }

    def one(self, place: int, chunk: Chunk) -> None:
        needs: list[Need] = []
        for kind in ORDERING:
            for wanted in chunk.requisites:
                if wanted.kind == kind.name:
                    needs += [Need(kind, on) for on in self.places(chunk, wanted, kind)]
        if needs:
            self.plan.needs[place] = tuple(needs)
        for need in needs:
            if need.kind.when is When.REHEARSED:
                owners = self.preparers.setdefault(need.on, [])
                if place not in owners:
                    owners.append(place)
        for wanted in chunk.requisites:
            if wanted.kind == "listen":
                for on in self.places(chunk, wanted, None):
                    self.plan.listeners.append(Listener(place, on))
            elif wanted.kind == "listen_in":
                for listener in self.places(chunk, wanted, None):
                    self.plan.listeners.append(Listener(listener, place))

    def places(self, chunk: Chunk, wanted: Requisite, kind: RequisiteKind | None) -> list[int]:
        if wanted.state == SLS and kind is not None and kind.when is When.BEFORE:
            places = [self.barrier(name) for name in self.index.files(wanted.value)]
            known = bool(places)
        else:
            places = self.index.find(wanted)
            known = bool(places) or (wanted.state == SLS and bool(self.index.files(wanted.value)))
        if not known:
            self.unknown(chunk, wanted)
        return places

    def barrier(self, sls: str) -> int:
        """One step for "all of that file", however many wait for it."""
        if sls not in self.barriers:
            self.barriers[sls] = len(self.plan.chunks) + len(self.plan.barriers)
            self.plan.barriers.append(self.index.members(sls))
        return self.barriers[sls]

    def unknown(self, chunk: Chunk, wanted: Requisite) -> None:
        what = f"{wanted.kind!r} of {chunk.id!r} names {described(wanted)}, which no SLS of this run declares"
        where = chunk.mark(wanted.kind, wanted.at)
        if is_pattern(wanted.value):
            self.found.warn("requisite-matches-nothing", what, where=where)
        else:
            there = self.elsewhere(wanted.value) if self.elsewhere else ""
            fix = there or self.index.suggestion(wanted)
            self.found.error("requisite-unknown", what, where=where, fix=fix)


def _sequence(plan: Plan, found: Diagnostics) -> None:
    """Depth first without recursion: a chain may be as long as the run. A step met again while it is
    still open is a cycle."""
    done: set[int] = set()
    opened: dict[int, int] = {}  # step → its depth in the stack
    size = len(plan.chunks)
    for root in range(size):
        if root in done:
            continue
        stack = [(root, iter(steps_before(plan, root)))]
        opened[root] = 0
        while stack:
            step, before = stack[-1]
            for inner in before:
                if inner in done:
                    continue
                if inner in opened:
                    cycle = [one for one, _ in stack[opened[inner] :]]
                    from saltern.plan.cycles import tell

                    tell(plan.chunks, cycle, size, found)
                    return
                opened[inner] = len(stack)
                stack.append((inner, iter(steps_before(plan, inner))))
                break
            else:
                stack.pop()
                del opened[step]
                done.add(step)
                if step < size:
                    plan.sequence.append(step)
                if 0 <= step < size and step != root:
                    plan.pulled_by[step] = next((one for one, _ in reversed(stack) if 0 <= one < size), root)
