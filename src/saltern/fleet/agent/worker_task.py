"""Makes the task of a worker from a job and the settings of the agent."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from saltern.fleet.agent.task import Task
from saltern.fleet.files.options import names_in
from saltern.fleet.protocol.messages import Job
from saltern.fleet.protocol.verbs import verb_of


class WorkerSettings(Struct, frozen=True, kw_only=True):
    """What every worker of an agent gets: the configuration, the overrides, and the agent's socket."""

    config: str = ""
    overrides: dict[str, Any] = {}
    socket: str = ""


def task_of(
    job: Job,
    attempt: int,
    settings: WorkerSettings,
    arguments: dict[str, Any],
    options: dict[str, object],
    denied: tuple[str, ...],
) -> Task:
    """The task of a job. ``arguments`` are unsealed; ``options`` are those of the fetched tree."""
    verb = verb_of(job.function, test=job.test)
    return Task(
        jid=job.jid,
        attempt=attempt,
        function=job.function,
        args=job.args,
        kwargs=arguments,
        test=job.test,
        environment=job.environment,
        command=verb.command or "call",
        durable=verb.durable,
        asks=not job.changing and not verb.changing and verb.command == "call",
        again=attempt > 1,
        config=settings.config,
        overrides={**settings.overrides, **options},
        names=names_in(options),
        socket=settings.socket,
        denied=denied,
        returners=job.returners or [],
        return_options=job.return_options or {},
    )
