"""Begins a chain on this machine: the request is accepted once, and recorded before anything is done."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, to_builtins

from saltern import __version__
from saltern.chains.applied_actions import needs_files
from saltern.chains.compile import LegPlan, not_meant, plan_for
from saltern.chains.drive import begin
from saltern.chains.legs import Journal, KnownLeg, Legs, read_secretly
from saltern.chains.owner import owner
from saltern.chains.turns import queue_leg, refuse_if_stuck
from saltern.config.settings import Settings
from saltern.engine.nested_engine import make_session
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system import clock
from saltern.system.mounts import is_in_memory
from saltern.system.run_numbers import run_number
from saltern.system.snapshots import Snapshots, current, snapshots_state

if TYPE_CHECKING:
    from saltern.runtime.ports import EventSink


class Order(Struct, frozen=True, kw_only=True):
    """A request to run a chain file on one system."""

    text: str
    file: str
    system: str
    pillar: dict[str, object] = {}
    token: str = ""  # requests with the same token are one run
    number: int = 0  # the number of the order of the controller
    until: str = ""  # the last action that may run now
    lease: float = 0  # seconds during which actions may begin; 0: no limit
    denied: tuple[str, ...] = ()  # functions that a controller may not call on this machine


def start(
    settings: Settings, order: Order, on_event: EventSink | None = None, *, again: Sequence[str] = ()
) -> KnownLeg:
    """Run a chain on this machine. The leg may not be over when this returns: the machine may go down.

    ``again`` are options for the command line of a build that takes over in the middle.
    """

    plan = plan_for(read_secretly(order.text, order.file, order.pillar), order.system)
    if not plan.segments:
        raise not_meant(plan)
    legs = Legs(settings)
    if (before := _asked_before(legs, order, plan)) is not None:
        return before
    needed = any(needs_files(action.body) for action in plan.steps)
    make_session(settings).check_roots(needed=needed)  # a chain that cannot begin is not accepted
    _check_place(legs, plan, settings)
    with legs.lock.hold_for_accepting():
        if (before := _asked_before(legs, order, plan)) is not None:
            return before
        name = _accept(settings, legs, order, plan)
    found = begin(settings, name, on_event, again=again)
    legs.prune()
    return found


def _accept(settings: Settings, legs: Legs, order: Order, plan: LegPlan) -> str:
    """Record the request, so that it is not lost; return the name of the leg."""
    refuse_if_stuck(legs)
    for unread in legs.newest_unknown():
        if not legs.journals.is_aside(unread):
            raise legs.unknown()[unread]
    name = legs.journals.next_name(run_number(clock.now()))
    journal = Journal(legs, name)
    head = {
        "text": order.text,
        "file": order.file,
        "system": order.system,
        "settings": to_builtins(settings, enc_hook=str),
        "pillar": plan.chain.values,
        "version": __version__,
        "started": clock.now(),
        "token": order.token,
        "order": order.number,
        "until": order.until,
        "lease": order.lease,
        "denied": list(order.denied),
        "plan_sha256": plan.sha256(),
        "owner": owner() if any(action.row.may_replace for action in plan.steps) else "",
    }
    legs.reserve.make()
    journal.add("accepted", **head)
    queue_leg(legs, name, journal)
    return name


def _check_place(legs: Legs, plan: LegPlan, settings: Settings) -> None:
    """Raise if the chain reboots and its journal is in memory, where a reboot loses it. If the configuration
    allows that, print a warning instead."""
    _check_snapshots(legs, plan)
    if not any(chunk.barrier for chunk in plan.segments) or not is_in_memory(legs.folder):
        return
    what = f"{legs.folder} is in memory: a reboot loses this chain, and it cannot be resumed"
    fix = "set state_dir to a directory on a disk; or allow it with chains_in_memory: true"
    if not settings.chains_in_memory:
        raise OperationError(Diagnostic(code="chain-in-memory", what=what, fix=fix))
    print(f"saltern: {what}", file=sys.stderr)


def _check_snapshots(legs: Legs, plan: LegPlan) -> None:
    """Raise if the journal is in the running snapshot and the chain boots another one, which has an older
    copy of it; or if the chain needs snapshots and this machine has none.
    """
    kinds = {action.kind for action in plan.steps}
    if not kinds & {"transaction", "reboot"}:
        return
    machine = current()
    if "transaction" in kinds and not _has_snapshots(machine):
        what = "the root of this machine is not a bootable snapshot: it cannot run a `transaction`"
        fix = "leave this machine out with the `targets` of that action"
        raise OperationError(Diagnostic(code="chain-no-snapshots", what=what, fix=fix))
    booted, following = snapshots_state(machine)
    if not booted or ("transaction" not in kinds and booted == following):
        return
    if machine.holds(legs.folder):
        what = f"{legs.folder} is in the running snapshot: this chain is lost when another one is booted"
        fix = "set state_dir to a directory on another subvolume, such as one below /var"
        raise OperationError(Diagnostic(code="chain-in-snapshot", what=what, fix=fix))


def _has_snapshots(machine: Snapshots) -> bool:
    """False only if the machine certainly has none: an action may install a missing tool."""
    try:
        return bool(machine.booted_snapshot() and machine.next())
    except OSError:
        return True


def _asked_before(legs: Legs, order: Order, plan: LegPlan) -> KnownLeg | None:
    """The leg that the same request has begun; it is not run again if it is over."""
    if not order.token:
        return None
    found = next((one for one in legs.all() if one.head.get("token") == order.token), None)
    if found is None and (unread := legs.unknown()):
        raise _may_be_it(next(iter(unread)), order.token)
    if found is None or found.head["plan_sha256"] == plan.sha256():
        return found
    what = f"{found.id} has the token {order.token!r} but another plan"
    fix = "use another token for this one"
    raise OperationError(Diagnostic(code="chain-token", what=what, fix=fix))


def _may_be_it(name: str, token: str) -> OperationError:
    what = f"the journal of {name} is damaged: it is unknown whether it was begun with the token {token!r}"
    fix = "check what was done, and remove the files of that run; or use another token for this one"
    return OperationError(Diagnostic(code="journal-damaged", what=what, fix=fix))
