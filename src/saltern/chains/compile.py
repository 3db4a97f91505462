"""A chain and a system → the leg: the actions meant for the system, cut into segments at the barriers."""

from __future__ import annotations

from msgspec import Struct, json, to_builtins

from saltern.chains.actions import Kind
from saltern.chains.document import Action, Chain
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.modules.lib.chain_chunks import chunk_name


class Segment(Struct, frozen=True, kw_only=True):
    """Actions that run in one go; a ``barrier`` comes last, and the next segment begins after it."""

    number: int
    name: str
    actions: tuple[Action, ...] = ()
    barrier: Action | None = None

    @property
    def steps(self) -> tuple[Action, ...]:
        """The barrier among them."""
        return (*self.actions, self.barrier) if self.barrier else self.actions


class LegPlan(Struct, frozen=True, kw_only=True):
    """All that one system does of a chain."""

    chain: Chain
    system: str
    segments: tuple[Segment, ...]
    last: Segment | None = None  # what is done in the end, whatever came before
    handlers: dict[str, Segment] = {}  # what is done if an action has failed, by its id

    @property
    def steps(self) -> tuple[Action, ...]:
        """In their order, barriers among them."""
        return tuple(action for segment in self.segments for action in segment.steps)

    @property
    def finalizers(self) -> tuple[Action, ...]:
        return self.last.actions if self.last else ()

    @property
    def handling(self) -> tuple[Action, ...]:
        """What is done only after failures."""
        return tuple(action for segment in self.handlers.values() for action in segment.actions)

    @property
    def every(self) -> tuple[Action, ...]:
        """Handlers of failures and those of the end, too."""
        return (*self.steps, *self.handling, *self.finalizers)

    @property
    def kinds(self) -> dict[str, Kind]:
        """What each action is."""
        return {action.id: action.row for action in self.every}

    def segment_of(self, action: str) -> Segment:
        every: tuple[Segment, ...] = (*self.segments, *self.handlers.values())
        every = (*every, self.last) if self.last else every
        return next(chunk for chunk in every if action in {one.id for one in chunk.steps})

    def sha256(self) -> str:
        """Of what is to be done here, however the file is laid out."""
        from hashlib import sha256

        steps = [[one.id, one.kind, one.body, one.policy] for one in self.every]
        whole = {"chain": self.chain.id, "system": self.system, "deadline": self.chain.deadline}
        return sha256(json.encode(to_builtins({**whole, "steps": steps}), order="sorted")).hexdigest()


def plan_for(chain: Chain, system: str, *, wary: bool = False) -> LegPlan:
    """Its segments are numbered from 1; a system that nothing is meant for has none.

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
    """The problem of a system that nothing is meant for."""
    what = f"no action of the chain {plan.chain.name!r} is meant for {plan.system!r}"
    fix = "name this machine among the targets, or say which one it is with --id"
    return OperationError(Diagnostic(code="chain-empty", what=what, fix=fix))


def state_id(action: str) -> str:
    """The action's id in the id of its state, because results are found by it."""
    return f"action_{action}"
