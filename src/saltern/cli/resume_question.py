"""Ask at the terminal what to do with a state that was interrupted."""

from __future__ import annotations

import sys

from saltern.language.chunk import Chunk

WAYS = ("rerun", "skip", "fail")


def ask_at_terminal(chunk: Chunk) -> str:
    """One of ``WAYS``; ``fail`` without a terminal for input and messages."""
    if sys.stdin is None or sys.stderr is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return "fail"
    what = f"{chunk.function} {chunk.label!a} was running when the run broke"
    while True:
        print(f"saltern: {what}: rerun, skip or fail? ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        found = [one for one in WAYS if line.strip() and one.startswith(line.strip().lower())]
        if found or not line:
            return found[0] if found else "fail"
