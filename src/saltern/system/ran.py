"""The result of a program that has ended."""

from __future__ import annotations

from msgspec import Struct


class Ran(Struct, frozen=True):
    """The exit code and the output of a program.

    ``code`` is that of a shell (128 + n for signal n); ``signal`` is n. ``lost``: how it ended is unknown.
    """

    code: int
    out: str = ""
    err: str = ""
    pid: int = 0
    timed_out: bool = False
    signal: int = 0
    lost: bool = False
