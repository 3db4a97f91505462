"""The driver of barriers: leave this side once the intent is durable, and come to the other side.

``journal.barriers`` decides; here it is done. Whoever holds the lock of the machine calls this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from saltern.config.settings import Settings
from saltern.durable.barriers.records import Body, opened, write
from saltern.journal.barriers import Decision, decide_reboot, seconds, start_deadline
from saltern.journal.fold import RunState
from saltern.journal.runs import Runs
from saltern.runtime.barriers import REBOOTING, UPDATING
from saltern.system import reboot
from saltern.system.faults import point
from saltern.system.signals import was_terminated
from saltern.system.waits import report_wait

LOOK = 1.0  # seconds between two looks at a machine that is to go down


def leave(runs: Runs, jid: str, stopped: str, settings: Settings) -> None:
    """The journal is closed and says what is to come: the machine is asked to go down, or builds switch."""
    if stopped == UPDATING:
        from saltern.durable.barriers.takeover import switch

        switch(runs, jid)
    elif stopped == REBOOTING:
        state = runs.state(jid)
        if asked := opened(state, "reboot"):
            _arm(runs, jid, state, asked, settings)


def over(
    runs: Runs, jid: str, settings: Settings, onward: Sequence[str], ends: Callable[[], bool] | None = None
) -> RunState:
    """Come to the other side of what is open; what the journal says then.

    It waits for a machine that has not gone down yet, at most until the deadline. ``onward`` are words for
    the command line of the build that takes over. Once ``ends`` is true it waits no longer, as if a user had
    interrupted it: the reboot is called off if it can be, and ``KeyboardInterrupt`` is raised.
    """
    state = runs.state(jid)
    if opened(state, "reboot"):
        try:
            state = _rebooted(runs, jid, settings, ends or (lambda: False))
        except KeyboardInterrupt:
            if not was_terminated():  # whoever ends processes may be the shutdown that we wait for
                from saltern.durable.barriers.cancel import interrupted

                interrupted(runs, jid, settings)
            raise
    if opened(state, "update"):
        from saltern.durable.barriers.takeover import taken_over

        state = taken_over(runs, jid, onward)
    return state


def _rebooted(runs: Runs, jid: str, settings: Settings, ends: Callable[[], bool]) -> RunState:
    machine = reboot.current(settings)
    since = machine.tick()
    state = runs.state(jid)
    told = False
    while asked := opened(state, "reboot"):
        decision = decide_reboot(asked[-1], machine.identity(), machine.tick(), since)
        if decision is Decision.CROSSED:
            state = _closed(runs, jid, state, "", machine.identity())
        elif decision is Decision.FAILED:
            late = start_deadline(asked[-1])
            why = f"the machine has not gone down within {late:g} seconds after it was asked to reboot"
            state = _closed(runs, jid, state, why, machine.identity())
        elif decision in (Decision.ARM, Decision.FORCE):
            state = _arm(runs, jid, state, asked, settings, force=decision is Decision.FORCE)
        elif ends():
            raise KeyboardInterrupt
        else:
            if not told:
                report_wait("the machine to go down for a reboot")
                told = True
            machine.wait(LOOK)
    return state


def _closed(runs: Runs, jid: str, state: RunState, why: str, now: dict[str, str]) -> RunState:
    point("reboot.proven")
    state = write(runs, jid, state, "crossed", {"kind": "reboot", "why": why, "now": now})
    point("reboot.crossed")
    return state


def _arm(
    runs: Runs, jid: str, state: RunState, asked: list[Body], settings: Settings, *, force: bool = False
) -> RunState:
    """A notice is counted from when the reboot was asked for first. Several who ask are one reboot."""
    machine = reboot.current(settings)
    tick = machine.tick()
    left = [seconds(body, "notice") - max(0.0, tick - body["tick"]) for body in asked]
    point("reboot.arming")
    state = write(runs, jid, state, "armed", {"kind": "reboot", "tick": tick, "forced": force})
    point("reboot.arm")
    try:
        machine.arm(max(0.0, *left), force=force)
    except OSError as problem:
        return _closed(runs, jid, state, f"the machine cannot be rebooted: {problem}", machine.identity())
    point("reboot.armed")
    return state
