"""The run of a job, from its journal, for a worker that continues the job."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from saltern.config.settings import Settings


def run_of(settings: Settings, job: str) -> str:
    """The run that an earlier attempt at a job began; empty if none did."""
    from saltern.journal.runs import Runs

    runs = Runs(settings)
    for run in runs.jids():
        state = runs.state(run) if not runs.is_damaged(run) else None
        if state is not None and state.head.get("job") == job and state.has_plan:
            return run
    return ""


def is_update_open(settings: Settings, job: str) -> bool:
    """True if another build was to take over the run of a job, and has not done so."""
    from saltern.durable.barriers.takeover import open_update
    from saltern.journal.runs import Runs

    run = run_of(settings, job)
    return bool(run) and open_update(Runs(settings).state(run)) is not None
