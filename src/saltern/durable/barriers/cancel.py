"""Cancel a requested reboot, if the machine still can."""

from __future__ import annotations

import sys

from saltern.config.settings import Settings
from saltern.durable.barriers.records import append_record, open_barriers
from saltern.journal.runs import Runs
from saltern.system import reboot
from saltern.system.boot import has_rebooted
from saltern.system.faults import point

CANCELLED = "its reboot is cancelled"


def cancel_reboot(runs: Runs, jid: str, settings: Settings) -> str:
    """Cancel the reboot that a run requested. Returns the message to report; empty if no reboot is pending.

    The run keeps its request. The machine comes first: if the process is killed in between, the reboot
    still seems to be pending, and is requested again when the run continues.
    """
    state = runs.state(jid)
    asked = [body for body in open_barriers(state, "reboot") if body["armed"] or body["off"]]
    machine = reboot.current(settings)
    if not asked or has_rebooted(asked[-1]["before"], machine.identity()):
        return ""
    if asked[-1]["off"]:
        return CANCELLED
    if why := machine.cancel():
        return f"its reboot cannot be cancelled: {why}"
    point("reboot.called-off")
    append_record(runs, jid, state, "disarmed", {"kind": "reboot"})
    point("reboot.disarmed")
    return CANCELLED


def cancel_after_interrupt(runs: Runs, jid: str, settings: Settings) -> None:
    """Cancel the reboot because a user interrupted the process that waits for it, and report that."""
    said = cancel_reboot(runs, jid, settings)
    if said == CANCELLED:
        stopped = {"took": 0.0, "stopped": "interrupted", "failed": False}
        append_record(runs, jid, runs.state(jid), "end", stopped)
        said = f"{said}; `saltern resume {jid}` requests it again"
    elif said:
        said = f"{said}; the run continues after the boot"
    if said:
        print(f"saltern: run {jid}: {said}", file=sys.stderr)
