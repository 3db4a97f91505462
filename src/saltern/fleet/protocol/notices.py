"""Notices: what the controller reports to followers of a job or the fleet, as it happens.

They go from a controller to people, over HTTP; agents never see them. ``number`` is the reader's cursor: the
last one it has read, sent as ``Last-Event-ID``, is where it continues. Best effort: a reader that is too
slow gets ``Missed`` and reads the current state again. The database is authoritative.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct


class Notice(Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True):
    """What all notices have."""

    at: float = 0.0
    number: int = 0


class StatusChanged(Notice, frozen=True, kw_only=True, tag="status"):
    """A job got another status on a system; counts and exit code are known once it has returned."""

    jid: str
    system: str
    status: str
    why: str = ""
    exit_code: int = 0
    changed: int = 0
    failed: int = 0
    back_by: float | None = None


class Submitted(Notice, frozen=True, kw_only=True, tag="submitted"):
    """The job that a request has started, with what the answer to a request that does not follow it has."""

    jid: str
    expected: list[str]
    away: dict[str, float | None]
    expires: float
    known: bool
    cursor: int


class Returned(StatusChanged, frozen=True, kw_only=True, tag="return"):
    """What a system has returned, sent when the job has ended."""

    body: Any = None


class Progressed(Notice, frozen=True, kw_only=True, tag="progress"):
    """The progress of a job on a system: ``done`` of ``total`` states, the current one, the result of the
    last.
    """

    jid: str
    system: str
    done: int = 0
    total: int = 0
    state: str = ""
    outcome: Literal["", "ok", "changed", "failed", "would change"] = ""
    failed: int = 0
    comment: str = ""


class JobEnded(Notice, frozen=True, kw_only=True, tag="ended"):
    """Every system of a job has a final status. A late return may still correct one. ``returns``: how many
    of its returns were sent before this.
    """

    jid: str
    counts: dict[str, int] = {}
    returns: int = 0


class PresenceChanged(Notice, frozen=True, kw_only=True, tag="presence"):
    """A system connected or disconnected; ``back_by``: it went on purpose, and should be back by then."""

    system: str
    online: bool
    back_by: float | None = None


class Happened(Notice, frozen=True, kw_only=True, tag="event"):
    """An event as in Salt: a tag and data."""

    tag: str
    system: str = ""
    data: dict[str, Any] = {}


class Missed(Notice, frozen=True, kw_only=True, tag="missed"):
    """The reader was too slow, and notices were left out."""

    count: int = 0


AnyNotice = Submitted | StatusChanged | Returned | Progressed | JobEnded | PresenceChanged | Happened | Missed
