"""Why a connection was not made, or ended, in plain words."""

from __future__ import annotations

import os
import re

CLOSED = "the broker closed the connection"


def reason_of(problem: BaseException) -> str:
    """The message of an error, without the prefix of the library and without quotes."""
    if isinstance(problem, BrokenPipeError | ConnectionResetError | RuntimeError):
        return CLOSED  # the connection may end before its reason is read; the last is of uvloop
    said = str(problem) or type(problem).__name__
    if isinstance(problem, OSError):
        said = _plain(said)
    return said.removeprefix("nats: ").strip("' ")


def _plain(said: str) -> str:
    """What asyncio or uvloop says of a connection that was not made, in the words of the system."""
    numbers = dict.fromkeys(re.findall(r"\[Errno (\d+)\] Connect call failed", said))
    words = ", ".join(os.strerror(int(number)) for number in numbers)
    return words or re.sub(r"\[Errno -?\d+\] ", "", said).removeprefix("Multiple exceptions: ")
