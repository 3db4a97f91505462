"""The reaction of a service to a change in a watched state."""

from __future__ import annotations

from collections.abc import Callable

from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.services.manager import Manager
from saltern.modules.lib.services.settle import facts
from saltern.system.waits import report_wait

Moves = tuple[Callable[..., None], ...]


def reaction(
    managing: Manager, sfun: str, runs: bool, *, reload: bool, full_restart: bool, force: bool
) -> tuple[str, Moves]:
    if sfun == "dead":
        return "stopped", (managing.stop,)
    if not runs:
        return "started", (managing.start,)
    if full_restart:
        return "stopped and started", (managing.stop, managing.start)
    if reload:
        return "reloaded", (managing.force_reload if force else managing.reload,)
    return "restarted", (managing.restart,)


def react(
    ctx: Context,
    managing: Manager,
    name: str,
    verb: str,
    moves: Moves,
    *,
    no_block: bool,
    delay: float | None,
    runs: bool,
) -> Result:
    try:
        for move in moves:
            move(name, no_block=no_block)
    except Refused as problem:
        comment = f"Service {name} could not be {verb}: {problem}"
        return Result(outcome=Outcome.FAILED, comment=comment, data=facts(managing, managing.look(name)))
    if delay:
        report_wait(f"{delay:g} seconds until {name} has settled (init_delay)", delay)
        ctx.clock.sleep(delay)
    seen = managing.look(name)
    outcome = Outcome(no_block or seen.running == runs or seen.enabled is None)
    comment = f"Service {name} was {verb}" + (
        "" if outcome is Outcome.OK else f", but now it is {seen.detail}"
    )
    return Result(outcome=outcome, comment=comment, changes={name: True}, data=facts(managing, seen))
