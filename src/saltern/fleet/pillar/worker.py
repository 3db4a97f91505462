"""The process that compiles pillar for a controller: tasks come on standard input, results leave on output.

Templates and modules of users run here, so that one that hangs or crashes affects nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from saltern.fleet.pillar.compile import PillarResult, PillarTask, compile_pillar

SIZE = 4  # bytes before each message


def main() -> int:
    return answer_tasks(_result)


def answer_tasks(answer: Callable[[bytes], object]) -> int:
    """Write the answer to each task, until the other side closes."""
    tasks, results = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of a template must not be read as a result
    while (data := read(tasks)) is not None:
        write(results, msgspec.msgpack.encode(answer(data)))
    return 0


def _result(data: bytes) -> PillarResult:
    try:
        return compile_pillar(msgspec.msgpack.decode(data, type=PillarTask))
    except Exception as problem:  # from a template or a module: its text may contain secrets
        return PillarResult(problem=f"compiling it failed with {type(problem).__name__} [pillar-failed]")


def read(file: BinaryIO) -> bytes | None:
    head = file.read(SIZE)
    return file.read(int.from_bytes(head)) if len(head) == SIZE else None


def write(file: BinaryIO, data: bytes) -> None:
    file.write(len(data).to_bytes(SIZE) + data)
    file.flush()


if __name__ == "__main__":
    sys.exit(main())
