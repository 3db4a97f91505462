"""Resolve what each state of a plan needs: references become indexes of states, or of steps for many."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from saltern.language.chunk import Chunk, Requisite
from saltern.language.diagnostics import Diagnostics
from saltern.language.patterns import is_pattern
from saltern.language.requisites import IN_FORMS, ORDERING, RequisiteKind, When
from saltern.plan.in_patterns import owners_by_pattern
from saltern.plan.matcher import SLS, UNGUESSED, Matcher
from saltern.plan.plan import Listener, Need, Plan
from saltern.plan.preparers import Preparers

FEW = 8  # up to so many states of one target are separate steps; more become one step


class Resolver:
    """Turns references into indexes."""

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
                self.plan.listeners += [
                    Listener(index, on) for on in self.listened_states(index, chunk, wanted)
                ]
            elif wanted.kind == "listen_in":
                self.plan.listeners += [
                    Listener(one, index) for one in self.listened_states(index, chunk, wanted)
                ]

    def patterns(self) -> None:
        """Owners with the same ``_in`` pattern become one step for all chunks that it matches."""
        for wanted, indexes in owners_by_pattern(self.matcher).items():
            kind, members = IN_FORMS[wanted.kind], frozenset(indexes)
            rehearsed = kind.when is When.REHEARSED
            for index in self.matcher.in_form_matches(wanted):
                alone = index in members or (rehearsed and len(indexes) < FEW)
                steps = (
                    [on for on in indexes if on != index]
                    if alone
                    else [self.join(wanted, indexes, later=rehearsed)]
                )
                self.added.setdefault(index, []).extend(Need(kind, on) for on in steps)

    def steps(self, index: int, chunk: Chunk, wanted: Requisite, kind: RequisiteKind) -> list[int]:
        """Chunks, or steps that stand for many: a whole file, a pattern, or an ID with ``names``."""
        if kind.when is When.BEFORE and wanted.state == SLS:
            files = self.matcher.files(wanted.value)
            if not files:
                self.unknown(chunk, wanted)
            return [self.join(Requisite("", SLS, name), self.matcher.members(name)) for name in files]
        indexes = self.indexes(chunk, wanted)
        if len(indexes) < FEW or index in self.matched_members(wanted, indexes):
            return indexes
        rehearsed = kind.when is When.REHEARSED
        named = Requisite("prereq" if rehearsed else "", wanted.state, wanted.value)
        return [self.join(named, indexes, later=rehearsed)]

    def listened_states(self, index: int, chunk: Chunk, wanted: Requisite) -> list[int]:
        """The states that a ``listen`` names, or that a ``listen_in`` makes listen: states, or one step for
        many. As in all ``_in`` forms, a pattern does not match the state itself."""
        indexes = self.indexes(chunk, wanted)
        later = wanted.kind == "listen_in"
        if later and is_pattern(wanted.value) and index in self.matched_members(wanted, indexes):
            return [one for one in indexes if one != index]
        if len(indexes) < FEW:
            return indexes
        named = Requisite(wanted.kind if later else "", wanted.state, wanted.value)
        return [self.join(named, indexes, later=later)]

    def matched_members(self, wanted: Requisite, indexes: list[int]) -> frozenset[int]:
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
        """One step for all these chunks, shared by all references to them. ``later``: for what comes after
        the step, their rehearsals or reactions."""
        if wanted not in self.joins:
            self.joins[wanted] = len(self.plan.chunks) + len(self.plan.joins)
            self.plan.joins.append([~index for index in indexes] if later else indexes)
            self.plan.join_names[self.joins[wanted]] = wanted.value
        return self.joins[wanted]

    def unknown(self, chunk: Chunk, wanted: Requisite) -> None:
        from saltern.plan.unknown import unknown_target

        one = unknown_target(chunk, wanted, self.matcher, self.found, self.elsewhere)
        if one is None:
            return
        if wanted.kind == "listen_in":
            report = self.found.error if self.strict else self.found.warn
            report("requisite-in-unknown", one.what, where=one.where, fix=one.fix)
            return
        salt = " (Salt 3006 fails this state only; 3008 refuses the run, too)" if one.fix == UNGUESSED else ""
        self.found.error("requisite-unknown", one.what, where=one.where, fix=one.fix + salt)
