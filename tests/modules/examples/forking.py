"""One sandbox and its processes, seen from outside: asked over a pipe, ended with all that it started."""

from __future__ import annotations

import os
import select
import signal
import traceback
from collections.abc import Callable, Sequence
from types import TracebackType

import msgspec
from tests.modules.examples import running, sandbox

LIMIT = 60.0  # seconds for one answer


class Fork:
    """A sandbox with its disk at ``place``. ``start`` runs once in it, then ``job`` for each question.

    The job has a process of its own each time; what ``start`` leaves running stays until the end.
    """

    def __init__(
        self,
        place: str,
        layers: Sequence[str],
        needed: Sequence[str],
        job: running.Job,
        start: running.Start = str,
    ) -> None:
        self.place = place
        questions, self._asking = os.pipe()
        self._answers, answering = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._asking)
            os.close(self._answers)
            _outside(lambda: _inside(place, layers, needed, job, start, questions, answering))
        os.close(questions)
        os.close(answering)

    def __enter__(self) -> Fork:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, question: str = "") -> object:
        os.write(self._asking, question.encode() + b"\n")
        said = b""
        while not said.endswith(b"\n"):
            if not select.select([self._answers], [], [], LIMIT)[0]:
                return {"problem": f"no answer within {LIMIT} seconds"}
            more = os.read(self._answers, 1 << 16)
            if not more:
                return {"problem": "the sandbox ended without an answer"}
            said += more
        return msgspec.json.decode(said)

    def close(self) -> None:
        """Its first process ends with this pipe, and all others with that process."""
        os.close(self._asking)
        os.close(self._answers)
        os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)


def _outside(inside: Callable[[], None]) -> None:
    """In the child: a process namespace starts with the next child, and ends with it."""
    try:
        os.setsid()
        flags = sandbox.NEWNS | sandbox.NEWUTS | sandbox.NEWIPC | sandbox.NEWPID | sandbox.NEWNET
        sandbox.unshare(flags)
        child = os.fork()
        if child == 0:
            sandbox.die_with_parent()
            inside()
        os.waitpid(child, 0)
    finally:
        os._exit(0)


def _inside(
    place: str,
    layers: Sequence[str],
    needed: Sequence[str],
    job: running.Job,
    start: running.Start,
    questions: int,
    answering: int,
) -> None:
    """The first process of the sandbox: answers until nobody asks any more."""
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    problem = _tried(lambda: sandbox.enter(place, layers, needed))
    if problem is None:
        running.settle()
        told = _tried(start)
        problem = {"problem": told} if told else None
    with os.fdopen(questions, encoding="utf-8") as asked:
        for question in asked:
            _answer(answering, problem, job, question.rstrip("\n"))
    os._exit(0)


def _answer(answering: int, problem: object, job: running.Job, question: str) -> None:
    child = os.fork()
    if child == 0:
        answer = problem or _tried(lambda: job(question))
        said = msgspec.json.encode(answer, enc_hook=str) + b"\n"
        while said:
            said = said[os.write(answering, said) :]
        os._exit(0)
    os.waitpid(child, 0)


def _tried(job: Callable[[], object]) -> object:
    try:
        return job()
    except BaseException as problem:
        return {"problem": "".join(traceback.format_exception(problem))}
