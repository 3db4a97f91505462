"""The task that a host's worker reads, as data."""

from __future__ import annotations

from typing import Any

from saltern.fleet.protocol.messages import Job
from saltern.fleet.protocol.verbs import verb_of
from saltern.fleet.ssh.roster.host import Host


def task_of(job: Job, host: Host) -> dict[str, Any]:
    """The task of a job on a host. The id and the grains of the roster win over those of the machine."""
    verb = verb_of(job.function, test=job.test)
    return {
        "jid": job.jid,
        "function": job.function,
        "args": job.args,
        "kwargs": job.kwargs,
        "test": job.test,
        "environment": job.environment,
        "command": verb.command or "call",
        "durable": verb.durable,
        **({"returners": job.returners} if job.returners else {}),
        **({"return_options": job.return_options} if job.return_options else {}),
        "overrides": {"id": host.id, **({"grains": dict(host.grains)} if host.grains else {})},
    }
