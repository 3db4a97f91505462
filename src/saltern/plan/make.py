"""Chunks → Plan.

The rule: walk the low list from the top; before a chunk runs, what it requires and has
not run yet runs first, depth first, requisites in the order of their kinds, targets in the order of
the list. A prereq's target is rehearsed before the owner and runs after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from saltern.language.chunk import Chunk, Requisite
from saltern.language.diagnostics import Diagnostics
from saltern.language.requisites import IN_FORMS, ORDERING, RequisiteKind, When
from saltern.plan.in_patterns import owners_by_pattern
from saltern.plan.matcher import SLS, UNGUESSED, Matcher, described, is_pattern
from saltern.plan.plan import Listener, Need, Plan, steps_before
from saltern.plan.preparers import Preparers

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
            _sequence(plan, found)  # a cycle is reported before it is asked what can be reached
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
    """References become indexes."""

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
        self.matcher = Matcher(plan.chunks, rendered)
        self.joins: dict[Requisite, int] = {}
        self.members: dict[tuple[str, str], frozenset[int]] = {}
        self.added: dict[int, list[Need]] = {}  # by patterns of ``_in`` forms
        self.preparers = Preparers(plan)

    def all(self) -> None:
        self.patterns()
        for index, chunk in enumerate(self.plan.chunks):
            if chunk.requisites or index in self.added:
                self.one(index, chunk)
        self.preparers.settle(self.matcher.rendered)

    def one(self, index: int, chunk: Chunk) -> None:
        needs: list[Need] = []
        for kind in ORDERING:
            for wanted in chunk.requisites:
                if wanted.kind == kind.name:
                    needs += [Need(kind, on) for on in self.steps(index, chunk, wanted, kind)]
            needs += [need for need in self.added.get(index, ()) if need.kind is kind]
        if needs:
            self.plan.needs[index] = tuple(needs)
        for need in needs:
            if need.kind.when is When.REHEARSED:
                self.preparers.add(index, need.on)
        for wanted in chunk.requisites:
            if wanted.kind == "listen":
                self.plan.listeners += [Listener(index, on) for on in self.listened(chunk, wanted)]
            elif wanted.kind == "listen_in":
                self.plan.listeners += [Listener(one, index) for one in self.listened(chunk, wanted)]

    def patterns(self) -> None:
        """Owners whose ``_in`` form has one pattern are one step for all whom it reaches."""
        for wanted, indexes in owners_by_pattern(self.matcher).items():
            kind, members = IN_FORMS[wanted.kind], frozenset(indexes)
            rehearsed = kind.when is When.REHEARSED
            for index in self.matcher.reached(wanted):
                alone = index in members or (rehearsed and len(indexes) < FEW)
                steps = (
                    [on for on in indexes if on != index]
                    if alone
                    else [self.join(wanted, indexes, later=rehearsed)]
                )
                self.added.setdefault(index, []).extend(Need(kind, on) for on in steps)

    def steps(self, index: int, chunk: Chunk, wanted: Requisite, kind: RequisiteKind) -> list[int]:
        """Chunks, or steps that stand for many: all of a file, of a pattern, or of an ID with ``names``."""
        if kind.when is When.BEFORE and wanted.state == SLS:
            files = self.matcher.files(wanted.value)
            if not files:
                self.unknown(chunk, wanted)
            return [self.join(Requisite("", SLS, name), self.matcher.members(name)) for name in files]
        indexes = self.indexes(chunk, wanted)
        if len(indexes) < FEW or index in self.matched(wanted, indexes):
            return indexes
        rehearsed = kind.when is When.REHEARSED
        named = Requisite("prereq" if rehearsed else "", wanted.state, wanted.value)
        return [self.join(named, indexes, later=rehearsed)]

    def listened(self, chunk: Chunk, wanted: Requisite) -> list[int]:
        """What a ``listen`` names, or who listens by a ``listen_in``: states, or one step for many."""
        indexes = self.indexes(chunk, wanted)
        if len(indexes) < FEW:
            return indexes
        later = wanted.kind == "listen_in"
        named = Requisite(wanted.kind if later else "", wanted.state, wanted.value)
        return [self.join(named, indexes, later=later)]

    def matched(self, wanted: Requisite, indexes: list[int]) -> frozenset[int]:
        key = (wanted.state, wanted.value)
        if key not in self.members:
            self.members[key] = frozenset(indexes)
        return self.members[key]

    def indexes(self, chunk: Chunk, wanted: Requisite) -> list[int]:
        indexes = self.matcher.find(wanted)
        if not indexes and not (wanted.state == SLS and self.matcher.files(wanted.value)):
            self.unknown(chunk, wanted)
        return indexes

    def join(self, wanted: Requisite, indexes: list[int], *, later: bool = False) -> int:
        """One step for all of them, however many name it. ``later``: for what comes after the step, their
        rehearsals or their reactions."""
        if wanted not in self.joins:
            self.joins[wanted] = len(self.plan.chunks) + len(self.plan.joins)
            self.plan.joins.append([~index for index in indexes] if later else indexes)
            self.plan.join_names[self.joins[wanted]] = wanted.value
        return self.joins[wanted]

    def unknown(self, chunk: Chunk, wanted: Requisite) -> None:
        named = f"{wanted.kind!r} of {chunk.label!r} names {'a state' if chunk.hidden else described(wanted)}"
        what = f"{named}, which no SLS of this run declares"
        where = chunk.mark(wanted.kind, wanted.at)
        if is_pattern(wanted.value):
            self.found.warn("requisite-matches-nothing", what, where=where)
            return
        there = self.elsewhere(wanted.value) if self.elsewhere else ""
        fix = "" if chunk.hidden else there or self.matcher.suggestion(wanted)
        if wanted.kind == "listen_in":
            report = self.found.error if self.strict else self.found.warn
            report("requisite-in-unknown", what, where=where, fix=fix)
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
                    from saltern.plan.cycles import report_cycle

                    report_cycle(plan.chunks, cycle, size, found)
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
