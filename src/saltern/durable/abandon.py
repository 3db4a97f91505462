"""End a broken run for good."""

from __future__ import annotations

from saltern.config.settings import Settings
from saltern.durable.barriers.cancel import cancel_reboot
from saltern.journal.recorder import Recorder
from saltern.journal.runs import Runs
from saltern.journal.summaries import RESUMABLE
from saltern.system import clock
from saltern.system.private import remove_private


def abandon(settings: Settings, jid: str, why: str) -> str:
    """Record that a broken run is over, so that it cannot be resumed.

    Returns the result of a pending reboot; empty if there was none.
    """
    runs = Runs(settings)
    with runs.lock.hold(jid, clock.now(), wait=settings.queue_runs):
        cancelled = cancel_reboot(runs, jid, settings)
        state = runs.state(jid)
        if state.status in RESUMABLE:
            writer = runs.writer(jid, resumed_at=state.records)
            Recorder(writer, state).end(took=0.0, stopped=why, failed=True)
            writer.close()
            remove_private(runs.kept_folder(jid))
    return cancelled
