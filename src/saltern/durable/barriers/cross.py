"""Leave for a barrier once the intent is durable, and arrive on its other side.

``journal.barriers`` decides; this module acts, while the lock of the machine is held.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from saltern.config.settings import Settings
from saltern.durable.barriers.records import Body, append_record, open_barriers
from saltern.journal.barriers import Decision, decide_reboot, seconds, start_deadline
from saltern.journal.run_state import RunState
from saltern.journal.runs import Runs
from saltern.runtime.barriers import REBOOTING, UPDATING
from saltern.system import reboot
from saltern.system.faults import point
from saltern.system.signals import was_terminated
from saltern.system.waits import report_wait

LOOK = 1.0  # seconds between two polls while the machine shuts down


def leave_for_barrier(runs: Runs, jid: str, stopped: str, settings: Settings) -> None:
    """Ask the machine to reboot, or switch builds, as the journal of the run says. The journal must be
    closed.
    """
    if stopped == UPDATING:
        from saltern.durable.barriers.takeover import switch_build

        switch_build(runs, jid)
    elif stopped == REBOOTING:
        state = runs.state(jid)
        if asked := open_barriers(state, "reboot"):
            _arm(runs, jid, state, asked, settings)


def cross_barriers(
    runs: Runs, jid: str, settings: Settings, again: Sequence[str], ends: Callable[[], bool] | None = None
) -> RunState:
    """Cross the open barriers; return the resulting state of the journal.

    Waits for a machine that has not shut down yet, at most until the deadline. ``again`` are options for
    the command line of the build that takes over. Once ``ends`` is true, stops waiting as if a user had
    interrupted it: cancels the reboot if possible, and raises ``KeyboardInterrupt``.
    """
    state = runs.state(jid)
    if open_barriers(state, "reboot"):
        try:
            state = _wait_for_reboot(runs, jid, settings, ends or (lambda: False))
        except KeyboardInterrupt:
            if not was_terminated():  # SIGTERM may come from the shutdown that we wait for
                from saltern.durable.barriers.cancel import cancel_after_interrupt

                cancel_after_interrupt(runs, jid, settings)
            raise
    if open_barriers(state, "update"):
        from saltern.durable.barriers.takeover import take_over

        state = take_over(runs, jid, again)
    return state


def _wait_for_reboot(runs: Runs, jid: str, settings: Settings, ends: Callable[[], bool]) -> RunState:
    machine = reboot.current(settings)
    since = machine.tick()
    state = runs.state(jid)
    reported = False
    while asked := open_barriers(state, "reboot"):
        decision = decide_reboot(asked[-1], machine.identity(), machine.tick(), since)
        if decision is Decision.CROSSED:
            state = _close_reboot(runs, jid, state, "", machine.identity())
        elif decision is Decision.FAILED:
            late = start_deadline(asked[-1])
            why = f"the machine did not shut down within {late:g} seconds after it was asked to reboot"
            state = _close_reboot(runs, jid, state, why, machine.identity())
        elif decision in (Decision.ARM, Decision.FORCE):
            state = _arm(runs, jid, state, asked, settings, force=decision is Decision.FORCE)
        elif ends():
            raise KeyboardInterrupt
        else:
            if not reported:
                report_wait("the machine to shut down for a reboot")
                reported = True
            machine.wait(LOOK)
    return state


def _close_reboot(runs: Runs, jid: str, state: RunState, why: str, now: dict[str, str]) -> RunState:
    point("reboot.proven")
    state = append_record(runs, jid, state, "crossed", {"kind": "reboot", "why": why, "now": now})
    point("reboot.crossed")
    return state


def _arm(
    runs: Runs, jid: str, state: RunState, asked: list[Body], settings: Settings, *, force: bool = False
) -> RunState:
    """Ask the machine to reboot, once for all requesting states; the notice period starts with the first
    request.
    """
    machine = reboot.current(settings)
    tick = machine.tick()
    left = [seconds(body, "notice") - max(0.0, tick - body["tick"]) for body in asked]
    point("reboot.arming")
    state = append_record(runs, jid, state, "armed", {"kind": "reboot", "tick": tick, "forced": force})
    point("reboot.arm")
    try:
        machine.arm(max(0.0, *left), force=force)
    except OSError as problem:
        return _close_reboot(
            runs, jid, state, f"the machine cannot be rebooted: {problem}", machine.identity()
        )
    point("reboot.armed")
    return state
