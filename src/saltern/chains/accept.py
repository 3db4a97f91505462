"""A chain begins on this machine: what is asked for is accepted, once, and written down before anything."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, to_builtins

from saltern import __version__
from saltern.chains.compile import LegPlan, plan_for
from saltern.chains.document import read_chain
from saltern.chains.drive import drive
from saltern.chains.legs import Journal, KnownLeg, Legs
from saltern.chains.owner import owner
from saltern.config.settings import Settings
from saltern.engine.nested_engine import make_session
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system import clock
from saltern.system.mounts import is_in_memory
from saltern.system.run_numbers import run_number

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
    denied: tuple[str, ...] = ()  # functions that this machine does not let a controller call


def start(
    settings: Settings, order: Order, on_event: EventSink | None = None, *, again: Sequence[str] = ()
) -> KnownLeg:
    """Run a chain on this machine. The leg may not be over when this returns: the machine may go down.

    ``again`` are options for the command line of a build that takes over in the middle.
    """

    plan = plan_for(read_chain(order.text, order.file), order.system)
    if not plan.segments:
        what = f"no action of the chain {plan.chain.name!r} is meant for {order.system!r}"
        fix = "name this machine among the targets, or say which one it is with --id"
        raise OperationError(Diagnostic(code="chain-empty", what=what, fix=fix))
    legs = Legs(settings)
    if (before := _asked_before(legs, order, plan)) is not None:
        return before
    needed = any(action.kind in ("state", "highstate") for action in plan.steps)
    make_session(settings).check_roots(needed=needed)  # what could not even begin is not accepted
    name = legs.journals.next_name(run_number(clock.now()))
    with legs.locked(name):
        if (before := _asked_before(legs, order, plan)) is not None:
            return before
        if open_legs := legs.unfinished():
            raise _unfinished(open_legs[0])
        for unread in legs.newest_unknown():
            if not legs.journals.is_aside(unread):
                raise legs.unknown()[unread]
        journal = Journal(legs, name)
        head = {
            "text": order.text,
            "file": order.file,
            "system": order.system,
            "settings": to_builtins(settings, enc_hook=str),
            "pillar": order.pillar,
            "version": __version__,
            "started": clock.now(),
            "token": order.token,
            "order": order.number,
            "until": order.until,
            "denied": list(order.denied),
            "plan_sha256": plan.sha256(),
            "owner": owner() if any(action.row.may_replace for action in plan.steps) else "",
        }
        legs.reserve.make()
        _show_place(legs, plan)
        journal.add("accepted", **head)
        found = drive(settings, name, on_event, again)
    legs.prune()
    return found


def _show_place(legs: Legs, plan: LegPlan) -> None:
    """A chain that reboots needs a journal that a boot does not forget."""
    if any(segment.barrier for segment in plan.segments) and is_in_memory(legs.folder):
        what = f"{legs.folder} is in memory: a reboot loses this chain, and it cannot be resumed"
        print(f"saltern: {what}; set state_dir to a directory on a disk", file=sys.stderr)


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


def _unfinished(name: str) -> OperationError:
    what = f"{name} is not over, and a machine does one chain at a time"
    fix = f"`saltern chain resume {name}` resumes it, `saltern chain cancel {name}` ends it"
    return OperationError(Diagnostic(code="chain-busy", what=what, fix=fix))
