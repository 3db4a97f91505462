"""Where the jobs of a system are on a host, and what is left of old ones."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from urllib.parse import quote

from saltern.fleet.agent.task import JobFolder

KEPT_JOBS = 50
LONGEST_NAME = 200
SOCKET = ".sock"


def own_directory(base: str, id_: str) -> str:
    """Where the jobs and runs of a system are. One machine may be in a roster under several ids, and each of
    them runs its own part of a job.
    """
    if not id_:
        return base
    name = quote(id_, safe="")
    if len(name) > LONGEST_NAME:
        name = hashlib.sha256(id_.encode()).hexdigest()
    return os.path.join(base, "systems", f"id-{name}")


def remove_old_jobs(jobs: str, release: Callable[[str], None]) -> None:
    """Remove what is left of jobs that ended long ago, and ``release`` the files of each."""
    os.makedirs(jobs, 0o700, exist_ok=True)
    names = sorted(name for name in os.listdir(jobs) if not name.endswith(SOCKET))
    for name in names[:-KEPT_JOBS]:
        folder = JobFolder(os.path.join(jobs, name))
        if not folder.lock.holder() and folder.outcome() is not None:
            folder.remove()
            release(name)
