"""What a job says of how its files are rendered. Pure."""

from __future__ import annotations

from typing import Any

from saltern.fleet.protocol.messages import Job
from saltern.language.merge import merge


def given_pillar(known: dict[str, Any], job: Job) -> dict[str, Any]:
    """Pillar that is in no file: what is known of the system, and over it what the job gives."""
    given = job.kwargs.get("pillar")
    merged = merge(known, given if isinstance(given, dict) else {}, strategy="smart", merge_lists=False)
    return merged if isinstance(merged, dict) else {}


def job_options(job: Job) -> dict[str, Any]:
    """What a job says of how its files are read."""
    named = {name: job.kwargs.get(name) for name in ("pillarenv", "saltenv")}
    return {"test": job.test, **{name: str(value) if value else None for name, value in named.items()}}
