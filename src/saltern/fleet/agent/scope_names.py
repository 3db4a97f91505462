"""What the agent and its workers call the scopes of systemd that jobs run in."""

from __future__ import annotations

SCOPED = "scoped"  # argument of the warm worker: its jobs get scopes


def scope_of(job: str) -> str:
    """The scope of a job."""
    return f"saltern-job-{job}.scope"
