"""The process of a keeper: it runs requested programs, and records which it begins and how they ended.

Messages through the two pipes are preceded by their length. Requests are marshalled, since file names are not
always text; replies are msgpack.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Mapping
from typing import Any, NoReturn

from msgspec import Struct, msgpack

from saltern.system import clock, ledger, process
from saltern.system.ledger import Entry, Ledger
from saltern.system.ran import Ran
from saltern.system.signals import restore_signals, signal

TOKEN = "SALTERN_TOKEN"  # for the program: the same whenever its state is called again
PROGRAM = "SALTERN_PROGRAM"  # for us: of this one start, so that only its own processes are ended with it


class KeeperReply(Struct, frozen=True):
    """How a program ended; or what was ``raised``, if it could not be started at all."""

    ran: Ran | None = None
    raised: str = ""
    text: str = ""


def serve(requests: int, answers: int, book: Ledger, before: set[int]) -> NoReturn:
    """Serve until no process can send requests. ``before``: the signals that were blocked before
    ``delay_signals``.
    """
    code = 1
    try:
        _settle({requests, answers, book.file, book.mark}, before)
        while (data := read(requests)) is not None:
            name, command, options, environ = marshal.loads(data)
            if environ is not None:
                os.environ.clear()
                os.environ.update(environ)
            _keep(book, name, command, options, answers)
        code = 0
    finally:
        os._exit(code)


def _settle(needed: set[int], before: set[int]) -> None:
    """Detach from the parent's terminal, session, unit and open files, so that its end does not end us."""
    import gc

    gc.disable()
    os.setsid()
    signal.signal(signal.SIGHUP, lambda *_: None)  # ignored signals would be ignored by every program, too
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    restore_signals(before)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    low = 3
    for high in (*sorted(needed), 1 << 16):
        os.closerange(low, high)
        low = high + 1
    from saltern.system.scope import move_out

    move_out()


def _stop_once(_number: int, _frame: object) -> NoReturn:
    """Stop the program, once: it gets time to end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _keep(book: Ledger, name: str, command: str | list[str], options: dict[str, Any], answers: int) -> None:
    ledger.make_room(book)
    ledger.add(book, Entry(name, os.getpid()))
    try:
        signal.signal(signal.SIGINT, _stop_once)
        ran = process.run(command, **options)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        sweep(options["env"])
        _send(answers, KeeperReply(Ran(128 + signal.SIGINT, signal=int(signal.SIGINT))))
        return
    except Exception as problem:
        known = (one.__name__ for one in type(problem).__mro__ if one in (ValueError, TypeError, OSError))
        _send(answers, KeeperReply(raised=next(known, "RuntimeError"), text=str(problem)))
        return
    if ran.timed_out:
        sweep(options["env"])
    ledger.add(book, Entry(name, os.getpid(), ran, clock.now()))
    try:
        _send(answers, KeeperReply(ran))
    except BrokenPipeError:
        os.fsync(book.file)  # while a run waits for it, it is in the journal soon enough


# -- messages through pipes ------------------------------------------------------------------------------


def _send(pipe: int, answer: KeeperReply) -> None:
    write(pipe, msgpack.encode(answer))


def write(pipe: int, body: bytes) -> None:
    whole = memoryview(len(body).to_bytes(8) + body)
    while whole:
        whole = whole[os.write(pipe, whole) :]


def read(pipe: int) -> bytes | None:
    """Read a message; None if the other side is gone."""
    head = _exactly(pipe, 8)
    return None if head is None else _exactly(pipe, int.from_bytes(head))


def _exactly(pipe: int, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        piece = os.read(pipe, min(size - len(data), 1 << 20))
        if not piece:
            return None
        data += piece
    return bytes(data)


def lost_result(pid: int, why: str) -> Ran:
    """The result of a program whose keeper was killed."""
    return Ran(128 + signal.SIGKILL, err=why, pid=pid, signal=int(signal.SIGKILL), lost=True)


# -- the whole tree -----------------------------------------------------------------------------------


def sweep(env: Mapping[str, str]) -> None:
    """End all processes that have the name of this start in their environment, and their descendants."""
    from saltern.system.tree import kill_tree

    kill_tree(f"{PROGRAM}={env[PROGRAM]}")
