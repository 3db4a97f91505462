"""The options of a job for rendering its files. Pure."""

from __future__ import annotations

from typing import Any

from saltern.fleet.protocol.messages import Job
from saltern.language.merge import merge


def given_pillar(known: dict[str, Any], job: Job) -> dict[str, Any]:
    """Pillar that is in no file: that of the system, overridden by that of the job."""
    given = job.kwargs.get("pillar")
    merged = merge(known, given if isinstance(given, dict) else {}, strategy="smart", merge_lists=False)
    return merged if isinstance(merged, dict) else {}


def job_options(job: Job) -> dict[str, Any]:
    """The options of a job for reading its files."""
    named = {name: job.kwargs.get(name) for name in ("pillarenv", "saltenv")}
    return {"test": job.test, **{name: str(value) if value else None for name, value in named.items()}}
