"""Calls of other systems by a state: each system is a sub state, reported when it has returned."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection

from msgspec import Struct, field
from msgspec.structs import replace

from saltern.language.result import Outcome, SubResult
from saltern.modules.api.context import Context
from saltern.modules.api.orchestration import CallRefused, NoSystems, Orchestration, RemoteCall, SystemReturn
from saltern.modules.api.refused import Refused

NEEDS = "it needs a fleet: run the file with `saltern orchestrate`"


class Called(Struct, kw_only=True):
    """The returns of a call by system, in the order of their arrival."""

    jid: str = ""
    returns: dict[str, SystemReturn] = field(default_factory=dict)
    sub: list[SubResult] = field(default_factory=list)

    @property
    def failed(self) -> list[str]:
        return [name for name, one in self.returns.items() if not one.is_ok]


Step = Callable[[SystemReturn], SubResult]


def orchestration_of(ctx: Context) -> Orchestration:
    """The fleet of this run. Raises ``Refused`` if it has none."""
    found = ctx.run.orchestration
    if found is None:
        raise Refused(NEEDS)
    return found


def next_token(ctx: Context) -> str:
    """A permanent name for a call; a run without a journal is never resumed, so any name will do."""
    programs = ctx.run.programs
    return programs.next_token() if programs is not None else uuid.uuid4().hex


def make_call(
    ctx: Context, call: RemoteCall, step: Step, *, may_fail: Collection[str] = (), allow_fail: int = 0
) -> Called:
    """Call the systems, and report each as a sub state.

    Systems of ``may_fail`` may fail, and so may ``allow_fail`` of the others: such a failure does not fail
    the state, so it does not fail the sub state either. Which systems these are is known at the end.
    """
    fleet = orchestration_of(ctx)
    called = Called()

    def hear(one: SystemReturn) -> None:
        called.returns[one.system] = one
        if not allow_fail:
            report(allow_failure(step(one)) if one.system in may_fail else step(one))

    def report(sub: SubResult) -> None:
        if ctx.emit is not None:
            ctx.emit(sub)
        else:
            called.sub.append(sub)

    try:
        called.jid = fleet.call(call, next_token(ctx), hear)
    except NoSystems:
        return called
    except CallRefused as problem:
        raise Refused(str(problem)) from None
    if allow_fail:
        counted = [name for name in called.failed if name not in may_fail]
        forgiven = {*may_fail, *(counted if len(counted) <= allow_fail else ())}
        for one in called.returns.values():
            report(allow_failure(step(one)) if one.system in forgiven else step(one))
    return called


def allow_failure(sub: SubResult) -> SubResult:
    """The sub state with an allowed failure as a success; its other values stay."""
    below = tuple(map(allow_failure, sub.sub))
    if sub.outcome is not Outcome.FAILED:
        return replace(sub, sub=below)
    comment = f"failed, which is allowed: {sub.comment}" if sub.comment else "failed, which is allowed"
    return replace(sub, outcome=Outcome.OK, comment=comment, sub=below, ran=sub.ran)


def system_list(given: object, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The systems from a list or a text with commas, and warnings about other values."""
    if given is None:
        return (), ()
    if isinstance(given, str):
        return tuple(one.strip() for one in given.split(",") if one.strip()), ()
    if isinstance(given, list | tuple):
        return tuple(map(str, given)), ()
    return (), (f"'{name}' needs to be a list or a comma separated string. Ignored.",)
