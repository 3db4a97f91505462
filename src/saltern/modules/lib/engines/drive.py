"""Run another engine: read each line as it comes, and keep all its output in a log."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from saltern.config.settings import cache_directory
from saltern.language.result import Outcome, SubResult
from saltern.modules.api.context import Context
from saltern.system import clock

LONGEST = 16 * 1024 * 1024  # bytes of one line that are read; the log has all of it
TAIL = 40  # lines kept to show when the output cannot be read
KEPT = 50  # logs of one engine

Heard = Callable[[str], None]
MARK = b"\x1e"  # the start of a line with an event; a control character that no log contains


class Ended(Struct, frozen=True, kw_only=True):
    """How an engine ended. ``tail`` are the last lines of both streams, in turn; ``err`` those of stderr.

    A failing program may write its buffered output after its error, when it
    ends: only ``err`` reliably contains the error.
    """

    code: int
    tail: str
    err: str
    log: str
    timed_out: bool = False
    signal: int = 0
    pid: int = 0


def drive(
    ctx: Context,
    engine: str,
    argv: Sequence[str],
    *,
    out: Heard,
    err: Heard | None = None,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | bytes | None = None,
    timeout: float | None = None,
) -> Ended:
    """Run the engine. ``out`` and ``err`` get each line; their exceptions end the engine and are raised here.

    A line that begins with ``MARK`` is only passed on: neither the log nor the tail has it.
    """
    with _Log(ctx, engine) as log:
        tail: deque[str] = deque(maxlen=TAIL)
        errors: deque[str] = deque(maxlen=TAIL)
        streams = {1: _Lines(out, (tail,), log.write), 2: _Lines(err, (tail, errors), log.write)}

        def sink(stream: int, piece: bytes) -> None:
            streams[stream].feed(piece)

        ran = ctx.host.run(
            list(argv), cwd=cwd, env=env, stdin=stdin, timeout=timeout, user=ctx.runas, sink=sink
        )
        for stream in streams.values():
            stream.end()
        if ran.err:  # it could not be started
            tail.append(ran.err)
            errors.append(ran.err)
        return Ended(
            code=ran.code,
            tail="\n".join(tail),
            err="\n".join(errors),
            log=log.path,
            timed_out=ran.timed_out,
            signal=ran.signal,
            pid=ran.pid,
        )


def unparsed_step(ended: Ended, why: str = "its output could not be read") -> SubResult:
    """A failed step for an engine with unexpected output."""
    return SubResult(
        name="unparsed output",
        id="unparsed output",
        outcome=Outcome.OK if ended.code == 0 else Outcome.FAILED,
        comment=f"{why}; the log is {ended.log}\n{ended.tail}".rstrip(),
        data={"log": ended.log, "tail": ended.tail, "retcode": ended.code},
    )


class _Lines:
    """Splits pieces into lines. Bytes that are not UTF-8 are shown as escapes."""

    def __init__(self, hear: Heard | None, tails: Sequence[deque[str]], log: Callable[[bytes], None]) -> None:
        self._hear = hear
        self._tails = tails
        self._log = log
        self._open: list[bytes] = []
        self._size = 0
        self._marked = False  # the line that is open

    def feed(self, piece: bytes) -> None:
        """Add a piece. Everything up to the next mark is logged at once: an engine may print a lot."""
        logged = 0
        start = 0
        while (end := piece.find(b"\n", start)) >= 0:
            logged = self._keep(piece, start, end, logged)
            self._end_line()
            start = end + 1
            if self._marked:
                logged, self._marked = start, False
        if start < len(piece):
            logged = self._keep(piece, start, len(piece), logged)
        if not self._marked:
            self._log(piece[logged:])

    def end(self) -> None:
        if self._size:
            self._end_line()

    def _keep(self, piece: bytes, start: int, end: int, logged: int) -> int:
        """Keep part of a piece; returns the position up to which the piece is logged."""
        if not self._size and piece.startswith(MARK, start, end):
            self._log(piece[logged:start])
            self._marked, logged = True, len(piece)
        if start < end and self._size < LONGEST:
            self._open.append(piece[start : min(end, start + LONGEST - self._size)])
        self._size += end - start
        return logged

    def _end_line(self) -> None:
        line = b"".join(self._open).decode("utf-8", "backslashreplace").rstrip("\r")
        self._open, self._size = [], 0
        if not self._marked:
            for tail in self._tails:
                tail.append(line[:1000])
        if self._hear is not None:
            self._hear(line)


class _Log:
    """The output of an engine, readable only by its owner; the oldest logs are removed."""

    def __init__(self, ctx: Context, engine: str) -> None:
        base = cache_directory(ctx.settings) or "/tmp"
        self._folder = os.path.join(base, "engines", engine)
        stamp = clock.stamp(ctx.clock.now(), "%Y%m%d-%H%M%S")
        id_ = "".join(char if char.isalnum() else "_" for char in (ctx.chunk.id if ctx.chunk else "call"))
        self.path = os.path.join(self._folder, f"{stamp}-{os.getpid()}-{id_[:60]}.log")

    def __enter__(self) -> _Log:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        self._prune()
        place, number = self.path, 1
        while True:
            try:
                self._file = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                break
            except FileExistsError:
                number += 1
                place = f"{self.path.removesuffix('.log')}-{number}.log"
        self.path = place
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def write(self, piece: bytes) -> None:
        view = memoryview(piece)
        while view:
            view = view[os.write(self._file, view) :]

    def _prune(self) -> None:
        logs = sorted(name for name in os.listdir(self._folder) if name.endswith(".log"))
        for name in logs[: max(0, len(logs) - KEPT + 1)]:
            try:
                os.remove(os.path.join(self._folder, name))
            except OSError:
                continue
