"""The line of a template at which an error happened."""

from __future__ import annotations

from types import TracebackType


def line_in(trace: TracebackType | None, file: str) -> int:
    """The innermost line of this file; 0 if the error did not pass through it."""
    line = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
