"""Sends a write whose answer is a stream of notices, and reads the first one.

If the connection breaks after the request was sent, the job may have begun. The request is sent again with
the same client token, to the same controller or to another one behind the same address: it is the same job.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from saltern.fleet.client.follow import Notice, OnBreak, Stream, pause
from saltern.fleet.client.problems import ControllerError, Unreachable
from saltern.fleet.client.session import Session
from saltern.language.diagnostics import Diagnostic

PATIENCE = 60.0  # seconds for which it is sent again
BROKEN = (502, 504)  # a proxy has lost its connection to the controller
BUSY = 503  # a proxy knows no controller that answers, or the controller has too much to do


def start_stream(
    session: Session, path: str, headers: Mapping[str, str], body: bytes | None, on_break: OnBreak
) -> tuple[Notice, Stream]:
    """The first notice, and the stream with those that follow. An older controller answers without a stream,
    and so does one whose caller may not read jobs; then its answer is in place of the notice.
    """
    tries, since, lost = 0, time.monotonic(), False
    while True:
        stream = Stream(session)
        try:
            return stream.open("POST", path, headers, body) or stream.first(), stream
        except ControllerError as problem:
            stream.close()
            lost = lost or (stream.was_open and _is_lost(problem))
            if not lost or not (_is_lost(problem) or problem.status == BUSY):
                raise
            if time.monotonic() - since > PATIENCE:
                raise _unknown(problem) from None
            on_break(problem)
        except BaseException:
            stream.close()
            raise
        pause(tries)
        tries += 1


def _is_lost(problem: ControllerError) -> bool:
    """True if no answer came from the controller: it may have carried out the request."""
    return isinstance(problem, Unreachable) or problem.status in BROKEN


def _unknown(problem: ControllerError) -> Unreachable:
    what = f"{problem.diagnostics[0].what}; it is not known whether the job has begun"
    fix = "`saltern jobs` lists it if it has, once the controller answers again"
    return Unreachable(Diagnostic(code="controller-unreachable", what=what, fix=fix), problem.status)
