"""Starts a worker that outlives this session."""

from __future__ import annotations

import os
from importlib import import_module

from msgspec.structs import replace

from saltern.fleet.agent.task import JobFolder, Task
from saltern.fleet.protocol.verbs import verb_of

MOST_ATTEMPTS = 20  # attempts of a job whose worker dies repeatedly without a reboot in between
BUG = 70
SIGNAL = 3  # the handle of the pipe to the session
WORKER, PROCESS = "saltern.cli.worker", "saltern.cli.worker_process"


def begin(folder: JobFolder, task: Task, umask: int) -> None:
    """Fork a worker for a task, and return when it holds the job, or leaves it to another one.

    The fork saves the imports of a new interpreter. It closes the channel, so that a session
    can end while the worker continues.
    """
    os.makedirs(folder.path, 0o700, exist_ok=True)
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        os.waitpid(child, 0)
        os.read(read, 1)  # its end: the worker has closed it
        os.close(read)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        _detach(write)
        if not _is_ours(folder, task):
            os._exit(0)
        folder.prepare(task)
        _keep_errors(folder)
        os.close(SIGNAL)
        os.umask(umask)  # what states make is not saltern's own
        import_module(PROCESS).start(import_module(WORKER).main, [folder.path], BUG)
    finally:
        os._exit(BUG)


def _detach(signal: int) -> None:
    """Leave the channel and the directory of the session; only the pipe to it stays, as ``SIGNAL``."""
    os.chdir("/")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(SIGNAL):
        os.dup2(nothing, number)
    os.dup2(signal, SIGNAL, inheritable=False)
    os.closerange(SIGNAL + 1, 256)


def _is_ours(folder: JobFolder, task: Task) -> bool:
    """Hold the job. False if another worker holds it, has ended it, or has begun this attempt.

    Two sessions may find a job without a worker at the same time, and only one of them may touch its files.
    """
    return folder.lock.hold() and folder.outcome() is None and folder.last_attempt() < task.attempt


def _keep_errors(folder: JobFolder) -> None:
    errors = os.open(folder.file("err"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(errors, 2)
    os.close(errors)


def next_attempt(folder: JobFolder) -> Task | None:
    """The task with which a job continues whose worker left no outcome; None if it must not be repeated."""
    task = folder.read_task()
    verb = verb_of(task.function, test=task.test)
    if verb.on_interrupt == "report" and folder.last_attempt():
        return None
    if task.attempt >= MOST_ATTEMPTS:
        return None
    return replace(task, attempt=task.attempt + 1, again=True)
