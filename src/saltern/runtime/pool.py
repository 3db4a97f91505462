"""Parallel chunks: each in a forked process, its answer read through a pipe."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import NoReturn

from msgspec import Struct

from saltern.language import secrets
from saltern.language.result import Result, failed
from saltern.system.signals import delay_signals, end_at_once, restore_signals, signal

TIME_TO_END = 2.0  # seconds for a module that handles SIGTERM


class Job(Struct):
    index: int
    pid: int
    pipe: int
    received: bytearray


class Answer(Struct, frozen=True):
    """What a process sends: a result, and the secrets that it first read."""

    result: Result
    secrets: list[str]


class Pool:
    """At most ``most`` processes at once; 0 is no limit."""

    def __init__(self, most: int = 0) -> None:
        self._most = most
        self._jobs: dict[int, Job] = {}
        self._ended: dict[int, Result] = {}  # read while waiting for another process

    def __contains__(self, index: int) -> bool:
        return index in self._jobs or index in self._ended

    def __bool__(self) -> bool:
        return bool(self._jobs or self._ended)

    @property
    def full(self) -> bool:
        return 0 < self._most <= len(self._jobs)

    def start(self, index: int, work: Callable[[], Result]) -> None:
        import sys

        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        reader, writer = os.pipe()
        # From here on, either it ends by itself, or we know it and can end it.
        with delay_signals() as before:
            pid = os.fork()
            if pid == 0:
                _answer(work, reader, writer, before)
            os.close(writer)
            self._jobs[index] = Job(index, pid, reader, bytearray())

    def wait(self, index: int) -> Result:
        """Wait for one process; the others are read meanwhile, so that none blocks."""
        while index not in self._ended:
            self._ended.update(self._read(None))
        return self._ended.pop(index)

    def collect_finished(self, *, block: bool = False) -> list[tuple[int, Result]]:
        """The processes that have ended; with ``block``, at least one if any are running."""
        ended = list(self._ended.items())
        self._ended.clear()
        while self._jobs:
            found = list(self._read(None if block and not ended else 0))
            ended += found
            if ended or not block:
                break
        return ended

    def kill(self) -> None:
        """End all processes and wait for them, however often we are asked to end meanwhile."""
        with delay_signals():
            for job in self._jobs.values():
                os.kill(job.pid, signal.SIGTERM)
            latest = time.monotonic() + TIME_TO_END
            for job in list(self._jobs.values()):
                _see_ended(job.pid, latest)
                del self._jobs[job.index]
                os.close(job.pipe)

    def _read(self, timeout: float | None) -> Iterator[tuple[int, Result]]:
        from select import select

        pipes = {job.pipe: job for job in self._jobs.values()}
        if not pipes:
            return
        for ready in select(list(pipes), [], [], timeout)[0]:
            job = pipes[ready]
            block = os.read(ready, 65536)
            if block:
                job.received += block
            else:
                yield job.index, self._end(job)

    def _end(self, job: Job) -> Result:
        import pickle

        os.close(job.pipe)
        del self._jobs[job.index]
        status = os.waitpid(job.pid, 0)[1]
        try:
            answer: object = pickle.loads(bytes(job.received)) if not status else None
        except Exception:
            answer = None
        if isinstance(answer, Answer):
            secrets.add(answer.secrets)
            return answer.result
        killed = os.WIFSIGNALED(status)
        how = f"signal {os.WTERMSIG(status)}" if killed else f"code {os.WEXITSTATUS(status)}"
        return failed(f"the process of this state ended without an answer ({how})")


def _answer(work: Callable[[], Result], reader: int, writer: int, before: set[int]) -> NoReturn:
    """The work of the forked process; never returns."""
    code = 1
    try:
        import pickle

        end_at_once()
        restore_signals(before)
        os.close(reader)
        known = len(secrets.values())
        try:
            answer = pickle.dumps(Answer(work(), secrets.values()[known:]))
        except BaseException as problem:
            lost = failed(secrets.mask(f"the answer of this state was lost: {problem}"))
            answer = pickle.dumps(Answer(lost, secrets.values()[known:]))
        _send(writer, answer)
        code = 0
    finally:
        os._exit(code)


def _see_ended(pid: int, latest: float) -> None:
    """Wait for a process to end, and kill it if it has not ended by ``latest``."""
    while time.monotonic() < latest:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _send(pipe: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(pipe, view) :]
