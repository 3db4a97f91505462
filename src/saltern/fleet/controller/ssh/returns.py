"""How a job ended on a host, in the form of an agent's report. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from saltern.fleet.controller.batch import clean
from saltern.fleet.protocol.codec import PART
from saltern.fleet.protocol.messages import Progress, Return
from saltern.fleet.ssh.drive import Done
from saltern.fleet.ssh.problems import PROBLEMS

INTERRUPTED = 130  # the exit code of a command that was interrupted
MOST = 8000  # characters of a reason
WORD = 255


def is_unbegun(done: Done) -> bool:
    """True if the host could not be reached, nothing was begun there, and a later try may succeed."""
    return done.status == "failed" and bool(done.problem) and is_passing(done.problem)


def is_passing(problem: str) -> bool:
    """True for a problem that may end by itself."""
    return problem in PROBLEMS and PROBLEMS[problem].again


def returns_of(jid: str, done: Done, *, started: float, ended: float, cancelled: bool) -> Iterator[Return]:
    """The messages of a return: one, or as many as its body has parts."""
    status: Any = "cancelled" if cancelled and done.code == INTERRUPTED else done.status
    pieces = [done.body[first : first + PART] for first in range(0, len(done.body), PART)] or [b""]
    encoding: Any = done.encoding
    for number, piece in enumerate(pieces):
        yield Return(
            jid=jid,
            status=status,
            part=number,
            parts=len(pieces),
            exit_code=done.code,
            started=started,
            ended=ended,
            changed=done.changed,
            failed=done.failed,
            why=clean(done.why[-MOST:]),
            encoding=encoding,
            size=done.size,
            body=piece,
        )


def progress_of(jid: str, head: dict[str, Any]) -> Progress:
    """The progress of a job, from the host's report."""
    return Progress(
        jid=jid,
        done=head.get("done", 0),
        total=head.get("total", 0),
        state=str(head.get("state", ""))[:WORD],
        outcome=head.get("outcome", ""),
        failed=head.get("failed", 0),
        comment=str(head.get("comment", "")),
        leg=head.get("leg") or {},
    )
