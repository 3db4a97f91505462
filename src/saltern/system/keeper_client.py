"""Our side of the two pipes to a keeper process."""

from __future__ import annotations

import marshal
import os
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field, msgpack

from saltern.system import keeper_process, live
from saltern.system.environ import environment
from saltern.system.faults import point
from saltern.system.keeper_process import KeeperReply
from saltern.system.ledger import Ledger
from saltern.system.signals import delay_signals, signal

LOOK = 0.05  # seconds between two interrupts of a keeper


class KeeperClient(Struct):
    """A keeper that was started by the process ``owner``."""

    pid: int
    requests: int
    replies: int
    owner: int
    environ: dict[str, str] = field(default_factory=dict)  # as the keeper names it

    def ask(self, name: str, command: str | list[str], options: Mapping[str, Any]) -> KeeperReply | None:
        """Make the keeper run a program, and wait for its end. None if the keeper was killed."""
        now = environment()
        environ, self.environ = (None if now == self.environ else now), now
        request = marshal.dumps(
            (name, command, dict(options), environ)
        )  # names of files are not always UTF-8
        try:
            keeper_process.write(self.requests, request)
            point("keeper.asked")
            live.wait_for(self.replies)
            reply = keeper_process.read(self.replies)
        except BrokenPipeError:
            reply = None
        point("keeper.answered")
        return None if reply is None else msgpack.decode(reply, type=KeeperReply)

    def interrupt(self) -> None:
        """End the running program and the keeper, as Ctrl-C does."""
        import select

        os.close(self.requests)  # a keeper without a request ends by that
        os.kill(self.pid, signal.SIGINT)
        while not select.select([self.replies], [], [], LOOK)[0]:
            os.kill(self.pid, signal.SIGINT)  # it may have just begun, and have missed the first one
        os.close(self.replies)
        os.waitpid(self.pid, 0)

    def close(self, *, wait: bool) -> None:
        """Close the pipe; the keeper ends after its program has ended."""
        os.close(self.requests)
        os.close(self.replies)
        if wait and self.owner == os.getpid():
            os.waitpid(self.pid, 0)


def start_keeper(book: Ledger) -> KeeperClient | None:
    """Fork a keeper that writes this ledger; None if no process can be started."""
    theirs, requests = os.pipe()
    replies, answers = os.pipe()
    with delay_signals() as before:
        try:
            pid = os.fork()
        except OSError:
            for one in (theirs, requests, replies, answers):
                os.close(one)
            return None
        if pid == 0:
            keeper_process.serve(theirs, answers, book, before)
        for one in (theirs, answers):
            os.close(one)
        return KeeperClient(pid, requests, replies, os.getpid(), environment())
