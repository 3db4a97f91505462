"""A reboot that was asked for is called off, where the machine still can."""

from __future__ import annotations

import sys

from saltern.config.settings import Settings
from saltern.durable.barriers.records import opened, write
from saltern.journal.runs import Runs
from saltern.system import reboot
from saltern.system.boot import has_rebooted
from saltern.system.faults import point

CALLED_OFF = "its reboot is cancelled"


def call_off(runs: Runs, jid: str, settings: Settings) -> str:
    """What to tell of it; empty: no reboot is under way. The run keeps its wish for one.

    The machine is told first: a process that is killed between the two leaves a reboot that seems to be
    under way, and is asked for again by whoever goes on with the run.
    """
    state = runs.state(jid)
    asked = [body for body in opened(state, "reboot") if body["armed"] or body["off"]]
    machine = reboot.current(settings)
    if not asked or has_rebooted(asked[-1]["before"], machine.identity()):
        return ""
    if asked[-1]["off"]:
        return CALLED_OFF
    if why := machine.call_off():
        return f"its reboot cannot be cancelled: {why}"
    point("reboot.called-off")
    write(runs, jid, state, "disarmed", {"kind": "reboot"})
    point("reboot.disarmed")
    return CALLED_OFF


def interrupted(runs: Runs, jid: str, settings: Settings) -> None:
    """A user has interrupted whoever waits for the machine to go down."""
    said = call_off(runs, jid, settings)
    if said == CALLED_OFF:
        stopped = {"took": 0.0, "stopped": "interrupted", "failed": False}
        write(runs, jid, runs.state(jid), "end", stopped)
        said = f"{said}; `saltern resume {jid}` asks for it again"
    elif said:
        said = f"{said}; the run continues after the boot"
    if said:
        print(f"saltern: run {jid}: {said}", file=sys.stderr)
