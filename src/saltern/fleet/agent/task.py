"""A job on disk, shared by the agent and its worker: either may die, and the other finds the state here.

The folder of a job has ``task`` (what to do), ``lock`` (held by the worker for as long as it lives, even when
another build of this program replaces it), ``begun`` (the attempt that has begun), ``out`` and ``err``
(what it prints), ``progress``, ``pause`` and, when all is done, ``outcome``.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from saltern.system import atomic

STREAMED = "streamed"  # how many records of the run were written for the agent
RETURNERS = "returners"  # those that were called, and what went wrong
KEPT = ("lock", "begun", "cancel", STREAMED, RETURNERS)  # of earlier attempts
PART = "part.{}"
RECORDS = "records."  # and the number of the first one in it
BATCH = RECORDS + "{}"
T = TypeVar("T")
_FLOCK = "hhqqi"  # type, whence, start, length, process: ``struct flock`` of Linux


class Task(Struct, frozen=True, kw_only=True):
    """What a worker must do. ``asks``: it only reads. ``again``: an earlier attempt has begun, so the
    journal may contain results.

    ``names``: directories of files that were copied here, and the names that users know for them.
    ``returners`` are called with the result, and with ``return_options``.
    """

    jid: str
    attempt: int = 1
    function: str
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    test: bool = False
    environment: str = "base"
    command: str = "call"
    durable: bool = False
    asks: bool = False
    again: bool = False
    config: str = ""
    overrides: dict[str, Any] = {}
    socket: str = ""
    names: dict[str, str] = {}
    denied: tuple[str, ...] = ()
    returners: list[str] = []
    return_options: dict[str, Any] = {}


def known_to_people(text: str, names: dict[str, str]) -> str:
    """A text with the local directories of copied files replaced by the names that users know."""
    for directory in sorted(names, key=len, reverse=True):
        known = names[directory]
        text = text.replace(f"{directory}/", known if known.endswith("/") else f"{known}/")
    return text


class Outcome(Struct, frozen=True, kw_only=True):
    """How a worker ended: the exit code of the command, and the counts of its states.

    Its output is beside it, packed, in ``parts`` files; ``why`` is its standard error.
    """

    attempt: int
    code: int
    changed: int = 0
    failed: int = 0
    run: str = ""
    encoding: str = "json"
    size: int = 0
    digest: str = ""
    parts: int = 0
    why: str = ""


class Pause(Struct, frozen=True):
    """A run waits: ``kind`` is ``reboot``, ``update`` or empty; ``seconds`` is how long it may take, if
    known.
    """

    kind: str = ""
    seconds: float = 0.0


class Step(Struct, frozen=True, kw_only=True):
    """Where a run is: the state that it began last. ``run`` is its number."""

    run: str = ""
    done: int = 0
    total: int = 0
    failed: int = 0
    state: str = ""
    outcome: str = ""
    comment: str = ""


class JobLock:
    """Held by the worker of a job. It belongs to the process, not to the open file: child
    programs do not inherit it, and another build that replaces this one keeps it.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def holder(self) -> int:
        """The process that holds the lock; 0 if there is none."""
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return 0
        try:
            asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            kind, *_, pid = struct.unpack(_FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, asked))
            return 0 if kind == fcntl.F_UNLCK else int(pid)
        finally:
            os.close(file)

    def hold(self) -> bool:
        """Hold the lock until this process ends; False if another process has it."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        os.set_inheritable(file, True)
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return False
        return True


class JobFolder:
    """The files of one job."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.lock = JobLock(self.file("lock"))

    def file(self, name: str) -> str:
        return os.path.join(self.path, name)

    # -- the agent's side ------------------------------------------------------------------------

    def prepare(self, task: Task) -> None:
        """Write the task durably, and remove what an earlier attempt has left."""
        os.makedirs(self.path, 0o700, exist_ok=True)
        for name in os.listdir(self.path):
            if name not in KEPT and not name.startswith(RECORDS):
                os.remove(self.file(name))
        atomic.write(self.file("task"), msgspec.json.encode(task))

    def is_call(self) -> bool:
        """True for the call of a function, which cannot be ended between two states."""
        found = _decode(self.bytes("task"), Task)
        return found is not None and found.command == "call"

    def outcome(self) -> Outcome | None:
        return _decode(self.bytes("outcome"), Outcome)

    def step(self) -> Step | None:
        return _decode(self.bytes("progress"), Step)

    def batches(self) -> list[str]:
        """The files with records that were not collected yet, in order."""
        try:
            names = [name for name in os.listdir(self.path) if name.removeprefix(RECORDS).isdigit()]
        except FileNotFoundError:
            return []
        return [self.file(name) for name in sorted(names, key=lambda name: int(name.removeprefix(RECORDS)))]

    def read_pause(self) -> Pause:
        """Why a run waits, and for how long; without a reason it does not wait."""
        kind, _, seconds = self.text("pause").strip().partition(" ")
        return Pause(kind, float(seconds or 0))

    def last_attempt(self) -> int:
        """The last attempt that has begun; 0 if none has."""
        return int(self.text("begun") or 0)

    def text(self, name: str, limit: int = -1) -> str:
        """The text of a file, or its end if it is longer than ``limit``; empty if there is no file."""
        try:
            with open(self.file(name), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                if 0 <= limit < size:
                    file.seek(size - limit)
                return file.read().decode(errors="replace")
        except FileNotFoundError:
            return ""

    def bytes(self, name: str) -> bytes:
        """The contents of a file; empty if there is none."""
        try:
            with open(self.file(name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    # -- the worker's side -----------------------------------------------------------------------

    def read_task(self) -> Task:
        with open(self.file("task"), "rb") as file:
            return msgspec.json.decode(file.read(), type=Task)

    def take(self, attempt: int) -> bool:
        """Hold the job until this process ends; False if another process holds it, or began it before."""
        if not self.lock.hold() or self.last_attempt() >= attempt:
            return False
        atomic.write(self.file("begun"), str(attempt).encode())
        return True

    def write(self, name: str, value: Struct, *, durable: bool = False) -> None:
        atomic.write(self.file(name), msgspec.json.encode(value), durable=durable)


def _decode(data: bytes, shape: type[T]) -> T | None:
    try:
        return msgspec.json.decode(data, type=shape)
    except msgspec.DecodeError:
        return None
