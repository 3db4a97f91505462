"""Start a worker that outlives this session."""

from __future__ import annotations

import os
from importlib import import_module

from msgspec.structs import replace

from saltern.fleet.agent.task import JobFolder, Task
from saltern.fleet.protocol.verbs import verb_of

MOST_ATTEMPTS = 20  # of a job whose worker dies again and again without a reboot in between
BUG = 70
WORKER, PROCESS = "saltern.cli.worker", "saltern.cli.worker_process"


def begin(folder: JobFolder, task: Task, umask: int) -> None:
    """Write the task down, and fork a worker for it.

    The fork saves what a new interpreter would import once more. It lets go of the channel, so that a session
    can end while the worker goes on.
    """
    folder.prepare(task)
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        _detach(folder)
        os.umask(umask)  # what states make is not saltern's own
        import_module(PROCESS).start(import_module(WORKER).main, [folder.path], BUG)
    finally:
        os._exit(BUG)


def _detach(folder: JobFolder) -> None:
    """Leave the channel and the directory of the session."""
    os.chdir("/")
    nothing = os.open(os.devnull, os.O_RDWR)
    errors = os.open(folder.file("err"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number, file in ((0, nothing), (1, nothing), (2, errors)):
        os.dup2(file, number)
    os.closerange(3, 256)


def next_attempt(folder: JobFolder) -> Task | None:
    """The task with which a job continues whose worker left no outcome; None if it must not be repeated."""
    task = folder.read_task()
    verb = verb_of(task.function, test=task.test)
    if verb.on_interrupt == "report" and folder.begun():
        return None
    if task.attempt >= MOST_ATTEMPTS:
        return None
    return replace(task, attempt=task.attempt + 1, again=True)
