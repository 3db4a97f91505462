"""Chunks → Plan.

The rule: walk the low list from the top; before a chunk runs, what it requires and has
not run yet runs first, depth first, requisites in the order of their kinds, targets in the order of
the list. A prereq's target is rehearsed before the owner and runs after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from saltern.language.chunk import Chunk, Requisite
from saltern.language.diagnostics import Diagnostics
from saltern.language.requisites import IN_FORMS, ORDERING, RequisiteKind, When
from saltern.plan.index import SLS, UNGUESSED, Index, described, is_pattern
from saltern.plan.plan import Listener, Need, Plan, steps_before

TURNED = frozenset(IN_FORMS) - {"listen_in", "use_in"}
FEW = 8  # states that one target means, each a step of its own; more are one step


def make_plan(
    chunks: Sequence[Chunk],
    rendered: Sequence[str],
    found: Diagnostics,
    aggregates: Callable[[Chunk], bool] | None = None,
    *,
    elsewhere: Callable[[str], str] | None = None,
    strict: bool = False,
) -> Plan:
    """Raises ``CompileError`` for unknown targets and cycles, all of a kind together.

    ``aggregates`` says which chunks want to be done together with others of their kind; ``elsewhere``
    where a target is that is not in this scope, if it is known.
    """
    plan = Plan(chunks=list(chunks), rendered=tuple(rendered))
    related = any(chunk.requisites for chunk in chunks)
    if related:
        _Resolver(plan, rendered, found, elsewhere, strict=strict).all()
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
        *,
        strict: bool,
    ) -> None:
        self.plan = plan
        self.found = found
        self.elsewhere = elsewhere
        self.strict = strict
        self.index = Index(plan.chunks, rendered)
        self.barriers: dict[Requisite, int] = {}
        self.members: dict[tuple[str, str], frozenset[int]] = {}
        self.added: dict[int, list[Need]] = {}  # by patterns of ``_in`` forms
        self.preparers: dict[int, dict[int, None]] = {}  # target → who prepares for it, each once

    def all(self) -> None:
        self.patterns()
        for place, chunk in enumerate(self.plan.chunks):
            if chunk.requisites or place in self.added:
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
                    needs += [Need(kind, on) for on in self.steps(place, chunk, wanted, kind)]
            needs += [need for need in self.added.get(place, ()) if need.kind is kind]
        if needs:
            self.plan.needs[place] = tuple(needs)
        for need in needs:
            if need.kind.when is When.REHEARSED:
                self.preparers.setdefault(need.on, {})[place] = None
        for wanted in chunk.requisites:
            if wanted.kind == "listen":
                for on in self.places(chunk, wanted):
                    self.plan.listeners.append(Listener(place, on))
            elif wanted.kind == "listen_in":
                for listener in self.places(chunk, wanted):
                    self.plan.listeners.append(Listener(listener, place))

    def patterns(self) -> None:
        """Owners whose ``_in`` form has one pattern are one step for all whom it reaches."""
        owners: dict[Requisite, list[int]] = {}
        for place, chunk in enumerate(self.plan.chunks):
            for one in chunk.requisites if not chunk.words.isdisjoint(IN_FORMS) else ():
                if one.kind in TURNED and self.index.by_pattern(one):
                    owners.setdefault(replace(one, at=-1), []).append(place)
        for wanted, places in owners.items():
            kind, members = IN_FORMS[wanted.kind], frozenset(places)
            for place in self.index.reached(wanted):
                alone = kind.when is not When.BEFORE or place in members
                steps = [on for on in places if on != place] if alone else [self.barrier(wanted, places)]
                self.added.setdefault(place, []).extend(Need(kind, on) for on in steps)

    def steps(self, place: int, chunk: Chunk, wanted: Requisite, kind: RequisiteKind) -> list[int]:
        """Chunks, or steps that stand for many: all of a file, of a pattern, or of an ID with ``names``."""
        if kind.when is not When.BEFORE:
            return self.places(chunk, wanted)
        if wanted.state == SLS:
            files = self.index.files(wanted.value)
            if not files:
                self.unknown(chunk, wanted)
            return [self.barrier(Requisite("", SLS, name), self.index.members(name)) for name in files]
        places = self.places(chunk, wanted)
        if len(places) < FEW or place in self.matched(wanted, places):
            return places
        return [self.barrier(Requisite("", wanted.state, wanted.value), places)]

    def matched(self, wanted: Requisite, places: list[int]) -> frozenset[int]:
        key = (wanted.state, wanted.value)
        if key not in self.members:
            self.members[key] = frozenset(places)
        return self.members[key]

    def places(self, chunk: Chunk, wanted: Requisite) -> list[int]:
        places = self.index.find(wanted)
        if not places and not (wanted.state == SLS and self.index.files(wanted.value)):
            self.unknown(chunk, wanted)
        return places

    def barrier(self, wanted: Requisite, places: list[int]) -> int:
        """One step for all of them, however many wait for it."""
        if wanted not in self.barriers:
            self.barriers[wanted] = len(self.plan.chunks) + len(self.plan.barriers)
            self.plan.barriers.append(places)
            self.plan.barrier_names[self.barriers[wanted]] = wanted.value
        return self.barriers[wanted]

    def unknown(self, chunk: Chunk, wanted: Requisite) -> None:
        named = f"{wanted.kind!r} of {chunk.label!r} names {described(wanted)}"
        what = f"{named}, which no SLS of this run declares"
        where = chunk.mark(wanted.kind, wanted.at)
        if is_pattern(wanted.value):
            self.found.warn("requisite-matches-nothing", what, where=where)
            return
        there = self.elsewhere(wanted.value) if self.elsewhere else ""
        fix = there or self.index.suggestion(wanted)
        if wanted.kind == "listen_in":
            tell = self.found.error if self.strict else self.found.warn
            tell("requisite-in-unknown", what, where=where, fix=fix)
        else:
            if fix == UNGUESSED:
                fix += " (Salt 3006 fails this state only; 3008 refuses the run, too)"
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
