"""Compiles a chain for a system into a leg: its actions, cut into segments at the barriers."""

from __future__ import annotations

from msgspec import Struct, json, to_builtins

from saltern.chains.actions import Kind
from saltern.chains.document import Action, Chain
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.modules.lib.chain_chunks import chunk_name


class Segment(Struct, frozen=True, kw_only=True):
    """Actions that run together; a ``barrier`` comes last, and the next segment begins after it."""

    number: int
    name: str
    actions: tuple[Action, ...] = ()
    barrier: Action | None = None

    @property
    def steps(self) -> tuple[Action, ...]:
        """The actions, including the barrier."""
        return (*self.actions, self.barrier) if self.barrier else self.actions


class LegPlan(Struct, frozen=True, kw_only=True):
    """The part of a chain that one system runs."""

    chain: Chain
    system: str
    segments: tuple[Segment, ...]
    last: Segment | None = None  # actions for the end, in any case
    handlers: dict[str, Segment] = {}  # actions for the failure of an action, by the ID of that action

    @property
    def steps(self) -> tuple[Action, ...]:
        """The actions in their order, including barriers."""
        return tuple(action for segment in self.segments for action in segment.steps)

    @property
    def finalizers(self) -> tuple[Action, ...]:
        return self.last.actions if self.last else ()

    @property
    def handling(self) -> tuple[Action, ...]:
        """The actions that run only after failures."""
        return tuple(action for segment in self.handlers.values() for action in segment.actions)

    @property
    def every(self) -> tuple[Action, ...]:
        """All actions, including handlers of failures and those for the end."""
        return (*self.steps, *self.handling, *self.finalizers)

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kind of each action, by its id."""
        return {action.id: action.row for action in self.every}

    def segment_of(self, action: str) -> Segment:
        every: tuple[Segment, ...] = (*self.segments, *self.handlers.values())
        every = (*every, self.last) if self.last else every
        return next(chunk for chunk in every if action in {one.id for one in chunk.steps})

    def sha256(self) -> str:
        """The digest of the actions of this leg; the layout of the file does not matter."""
        from hashlib import sha256

        steps = [[one.id, one.kind, one.body, one.policy] for one in self.every]
        whole = {"chain": self.chain.id, "system": self.system, "deadline": self.chain.deadline}
        return sha256(json.encode(to_builtins({**whole, "steps": steps}), order="sorted")).hexdigest()


def plan_for(chain: Chain, system: str, *, wary: bool = False) -> LegPlan:
    """Plan the leg of a system. Segments are numbered from 1; a system without actions has none.

    ``wary``: saltern itself may be among the packages that change, so each such action ends a segment.
    """
    groups: list[tuple[list[Action], Action | None]] = []
    left: list[Action] = []
    for action in chain.actions:
        if not action.meant_for(system):
            continue
        if action.row.barrier:
            groups.append((left, action))
            left = []
            continue
        left.append(action)
        if wary and action.row.may_replace:
            groups.append((left, None))
            left = []
    if left:
        groups.append((left, None))
    segments = tuple(
        Segment(number=number, name=chunk_name(chain.id, system, number), actions=tuple(own), barrier=barrier)
        for number, (own, barrier) in enumerate(groups, 1)
    )
    own = tuple(action for action in chain.finalizers if action.meant_for(system))
    name = chunk_name(chain.id, system, len(segments) + 1)
    last = Segment(number=len(segments) + 1, name=name, actions=own) if own and segments else None
    plan = LegPlan(chain=chain, system=system, segments=segments, last=last)
    first = len(segments) + (last is not None) + 1
    failing = [action for action in plan.steps if action.handlers]
    handlers = {
        action.id: Segment(
            number=number, name=chunk_name(chain.id, system, number), actions=tuple(action.handlers)
        )
        for number, action in enumerate(failing, first)
    }
    return LegPlan(chain=chain, system=system, segments=segments, last=last, handlers=handlers)


def not_meant(plan: LegPlan) -> OperationError:
    """The error for a system that has no actions."""
    what = f"no action of the chain {plan.chain.name!r} is for {plan.system!r}"
    fix = "add this machine to the targets, or give its name with --id"
    return OperationError(Diagnostic(code="chain-empty", what=what, fix=fix))


def state_id(action: str) -> str:
    """The id of an action's state. It contains the id of the action, by which results are found."""
    return f"action_{action}"
