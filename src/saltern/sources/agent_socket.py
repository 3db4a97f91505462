"""Sends requests to the agent that started this run, through its UNIX socket: one line of JSON each way.

An agent may be restarted while a run is in progress, so ``ask`` tries again until a time limit. The agent may
also be waiting for its controller: with ``most``, that time does not count.
"""

from __future__ import annotations

import socket
import time
from typing import Any

import msgspec

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system import long_sockets

WAIT = 120.0
MOST_WAIT = 900.0  # seconds in all, for an agent that was reached meanwhile
STEP = 0.2
MOST = 1 << 30  # bytes of a response


class AgentAway(Exception):
    """The agent did not respond; the text says why. ``was_there``: it had accepted the request."""

    was_there = False


def ask(path: str, question: dict[str, object], *, wait: float = WAIT, most: float = 0.0) -> dict[str, Any]:
    """Return the agent's response. Raises ``OperationError`` if there is none within ``wait`` seconds; with
    ``most``, if the agent was away for so long, or within ``most`` seconds.
    """
    last = time.monotonic() + max(wait, most)
    end = time.monotonic() + wait
    while True:
        try:
            return _ask_once(path, question, end)
        except AgentAway as problem:
            now = time.monotonic()
            if problem.was_there and most:
                end = min(now + wait, last)
            if now + STEP > end:
                raise _away(path, str(problem)) from None
            time.sleep(STEP)


def _ask_once(path: str, question: dict[str, object], end: float) -> dict[str, Any]:
    data, was_there = bytearray(), False
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(max(end - time.monotonic(), STEP))
            long_sockets.connect(line, path)
            line.sendall(msgspec.json.encode(question) + b"\n")
            was_there = True
            while not data.endswith(b"\n") and len(data) < MOST and (more := line.recv(1 << 16)):
                data += more
    except OSError as problem:
        raise _absence(problem.strerror or str(problem), was_there) from None
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except msgspec.DecodeError:
        raise _absence("it ended before it responded", was_there) from None


def _absence(why: str, was_there: bool) -> AgentAway:
    found = AgentAway(why)
    found.was_there = was_there
    return found


def _away(path: str, why: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="agent-away",
            what=f"the agent at {path} does not respond: {why}",
            fix="start the agent, and resume the run: saltern resume",
        )
    )
