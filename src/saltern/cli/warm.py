"""The warm worker of an agent: it has imported the code that jobs need, and forks for each job.

``python -m saltern.cli.warm IDLE [scoped]``, with a socket to the agent as standard input. It reads a line
with the folder of a job, and writes the number of the process that works on it, or 0 if the agent must start
another program. It ends when it has been idle for a while, and with its agent.

A job that ends reports the modules that it had to import; they are imported here before the next fork. So the
only job of an hour pays for no more than a program of its own would, and the third of many pays for none.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module

from saltern.cli.worker_process import start
from saltern.fleet.agent.scope_names import SCOPED, scope_of
from saltern.system.code_cache import CodeCache, install
from saltern.system.lean_msgspec import import_msgspec
from saltern.system.own_files import libraries, remember, were_replaced

IDLE = 60.0  # seconds
LARGEST = 200_000  # bytes of a report
UNSCOPED = 76  # exit code: there was no scope for the job
# Modules of users are read again by every job: only these are kept, with those of Python itself.
KEPT = {"saltern", "jinja2", "markupsafe", "msgspec", "yaml"}


class Warm:
    """The process that forks. ``line`` is the socket to the agent. ``scoped``: a job that changes something
    gets a scope of systemd.
    """

    def __init__(self, line: int, cache: CodeCache | None, *, scoped: bool = False) -> None:
        self._line = line
        self._scoped = scoped
        self._cache = cache
        self._libraries = libraries()
        self._reports, self._reporter = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._reports.setblocking(False)
        self._reporter.setblocking(False)

    def serve(self, idle: float) -> None:
        """Answer until the other end is closed, or until it is idle for ``idle`` seconds with no child
        running.
        """
        held = b""
        ended = _woken_by_children()
        while True:
            ready, _, _ = select.select([self._line, ended], [], [], idle)
            if ended in ready:
                os.read(ended, 4096)
            _reap()
            if self._line not in ready:
                if not ready and not _has_children():
                    return
                continue
            data = os.read(self._line, 65_536)
            if not data:
                return
            *lines, held = (held + data).split(b"\n")
            for folder in lines:
                os.write(self._line, b"%d\n" % self._answer(os.fsdecode(folder)))

    def _answer(self, folder: str) -> int:
        """The number of the new process; 0 if the code on the disk is no longer the code of this process."""
        if were_replaced() or libraries() != self._libraries:
            return 0
        self._learn()
        return self._fork(folder)

    def _learn(self) -> None:
        """Import what the jobs before had to import."""
        import gc

        names: set[str] = set()
        with suppress(BlockingIOError):
            while True:
                names |= set(self._reports.recv(LARGEST).decode().split())
        if new := sorted(names - sys.modules.keys()):
            import_all(new)
            self._save()
            gc.freeze()  # it is shared with all children

    def _save(self) -> None:
        """Keep the code of what was imported, for the next process."""
        if self._cache is not None and not self._cache.is_complete:
            from saltern.system.code_file import save

            save(self._cache)

    def _fork(self, folder: str) -> int:
        """Fork the process that works on the job of a folder; return its number."""
        child = os.fork()
        if child:
            return child
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, self._line)
        os.close(null)
        time.tzset()  # an earlier job may have set another one
        self._work(folder)
        return 0

    def _work(self, folder: str) -> None:
        """In the process of a job. One that gets no scope leaves the job to a program of its own."""
        from saltern.cli.worker import main as work
        from saltern.system.systemd_scope import enter

        if self._scoped and not _asks(folder) and not enter(scope_of(os.path.basename(folder))):
            os._exit(UNSCOPED)
        start(work, [folder], 70, finish=self._report)

    def _report(self) -> None:
        """In the process of a job: report what it has imported."""
        names = " ".join(name for name in sys.modules if is_kept(name))
        with suppress(OSError):
            self._reporter.send(names.encode()[:LARGEST])


def _asks(folder: str) -> bool:
    """True if the job only reads; it may stay with the warm worker."""
    from saltern.fleet.agent.task import JobFolder

    return JobFolder(folder).read_task().asks


def is_kept(name: str) -> bool:
    """True for modules that the warm worker may import for all jobs."""
    first = name.partition(".")[0]
    return first in KEPT or first in sys.stdlib_module_names


def import_all(names: Iterable[str]) -> None:
    """Import modules; one that only exists in the process of a job is left out."""
    for name in names:
        with suppress(Exception):
            import_module(name)


def _woken_by_children() -> int:
    """A pipe that becomes readable when a child ends."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _has_children() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG) == (0, 0)
    except ChildProcessError:
        return False


def main() -> None:
    import gc

    gc.disable()  # nothing here is freed
    remember()
    cache = install("worker")
    import_msgspec()
    import_module("saltern.cli.worker")
    gc.freeze()  # the imported code is shared with all children
    idle, *more = sys.argv[1:] or [str(IDLE)]
    Warm(0, cache, scoped=SCOPED in more).serve(float(idle))


if __name__ == "__main__":
    main()
