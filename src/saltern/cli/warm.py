"""The warm worker of an agent: it has imported the code that a query needs, and forks for each query.

``python -m saltern.cli.warm``, with a socket to the agent as standard input. It reads a line with the folder
of a job, and writes the number of the process that works on it, or 0 if the agent must start another program.
It ends when it has been idle for a while, and with its agent.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress
from importlib import import_module

from saltern.cli.worker import main as work
from saltern.cli.worker_process import start
from saltern.system.own_files import remember, were_replaced

IDLE = 60.0  # seconds
AHEAD = (
    "saltern.cli.call",
    "saltern.compat.dunders",
    "saltern.engine.nested_engine",
    "saltern.engine.session",
    "saltern.facts.core",
    "saltern.facts.grains",
    "saltern.facts.pillar",
    "saltern.modules.api.caller",
    "saltern.modules.api.salt",
    "saltern.modules.functions.grains",
    "saltern.modules.functions.test.calls",
    "saltern.report.outputs",
    "saltern.report.plain",
)


def serve(line: int, idle: float = IDLE) -> None:
    """Answer until the other end is closed, or until it is idle for ``idle`` seconds with no child
    running.
    """
    held = b""
    ended = _woken_by_children()
    while True:
        ready, _, _ = select.select([line, ended], [], [], idle)
        if ended in ready:
            os.read(ended, 4096)
        _reap()
        if line not in ready:
            if not ready and not _has_children():
                return
            continue
        data = os.read(line, 65_536)
        if not data:
            return
        *lines, held = (held + data).split(b"\n")
        for folder in lines:
            os.write(line, b"%d\n" % (0 if were_replaced() else fork(os.fsdecode(folder), line)))


def _woken_by_children() -> int:
    """A pipe that becomes readable when a child ends."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


def fork(folder: str, line: int) -> int:
    """Fork the process that works on the job of a folder; return its number."""
    child = os.fork()
    if child:
        return child
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, line)
    os.close(null)
    start(work, [folder], 70)
    return 0


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

    remember()
    for name in AHEAD:
        with suppress(ImportError):
            import_module(name)
    gc.collect()
    gc.freeze()  # the imported code is shared with all children
    serve(0, float(sys.argv[1]) if len(sys.argv) > 1 else IDLE)


if __name__ == "__main__":
    main()
