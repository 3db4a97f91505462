"""A chain begins on this machine: what is asked for is accepted, once, and written down before anything."""

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
    """What is asked for: a chain file for one system."""

    text: str
    file: str
    system: str
    pillar: dict[str, object] = {}
    token: str = ""  # two requests with one token are one run
    number: int = 0  # of the controller's order
    until: str = ""  # the last action that may be done now
    lease: float = 0  # seconds in which actions may begin; 0: it has no end
    denied: tuple[str, ...] = ()  # functions that this machine does not let a controller call


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
    make_session(settings).check_roots(needed=needed)  # what could not even begin is not accepted
    _check_place(legs, plan, settings)
    with legs.lock.accepting():
        if (before := _asked_before(legs, order, plan)) is not None:
            return before
        name = _accept(settings, legs, order, plan)
    found = begin(settings, name, on_event, again=again)
    legs.prune()
    return found


def _accept(settings: Settings, legs: Legs, order: Order, plan: LegPlan) -> str:
    """Write down what is asked for; the name of the leg. From here on it is not lost."""
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
    """A chain that reboots needs a journal that a boot does not forget. Raises if it would be forgotten,
    unless the configuration allows that; then it is reported."""
    _check_snapshots(legs, plan)
    if not any(chunk.barrier for chunk in plan.segments) or not is_in_memory(legs.folder):
        return
    what = f"{legs.folder} is in memory: a reboot loses this chain, and it cannot be resumed"
    fix = "set state_dir to a directory on a disk; or allow it with chains_in_memory: true"
    if not settings.chains_in_memory:
        raise OperationError(Diagnostic(code="chain-in-memory", what=what, fix=fix))
    print(f"saltern: {what}", file=sys.stderr)


def _check_snapshots(legs: Legs, plan: LegPlan) -> None:
    """Raises if the journal is in the snapshot that runs, and the chain boots another one: it would find the
    journal as it was when that snapshot was made. And if this machine has none, and the chain needs them."""
    kinds = {action.kind for action in plan.steps}
    if not kinds & {"transaction", "reboot"}:
        return
    machine = current()
    if "transaction" in kinds and not _has_snapshots(machine):
        what = "the root of this machine is no snapshot that boots are chosen by: it can do no `transaction`"
        fix = "leave this machine out with the `targets` of that action"
        raise OperationError(Diagnostic(code="chain-no-snapshots", what=what, fix=fix))
    booted, following = snapshots_state(machine)
    if not booted or ("transaction" not in kinds and booted == following):
        return
    if machine.holds(legs.folder):
        what = f"{legs.folder} is in the snapshot that runs: after a boot of another one, this chain is lost"
        fix = "set state_dir to a directory of another subvolume, such as below /var"
        raise OperationError(Diagnostic(code="chain-in-snapshot", what=what, fix=fix))


def _has_snapshots(machine: Snapshots) -> bool:
    """False only if it is known: a tool that is not there yet may be installed by an action."""
    try:
        return bool(machine.booted() and machine.next())
    except OSError:
        return True


def _asked_before(legs: Legs, order: Order, plan: LegPlan) -> KnownLeg | None:
    """The leg that was begun by the same request; one that is over is answered, and not run again."""
    if not order.token:
        return None
    found = next((one for one in legs.all() if one.head.get("token") == order.token), None)
    if found is None and (unread := legs.unknown()):
        raise _may_be_it(next(iter(unread)), order.token)
    if found is None or found.head["plan_sha256"] == plan.sha256():
        return found
    what = f"{found.id} was begun with the token {order.token!r}, and has another plan"
    fix = "give this one a token of its own"
    raise OperationError(Diagnostic(code="chain-token", what=what, fix=fix))


def _may_be_it(name: str, token: str) -> OperationError:
    what = f"the journal of {name} is damaged: whether it was begun with the token {token!r} is not known"
    fix = "look at what was done, and remove the files of that run; or give this one another token"
    return OperationError(Diagnostic(code="journal-damaged", what=what, fix=fix))
