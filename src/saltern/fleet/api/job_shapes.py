"""Bodies and answers about jobs, events and the audit."""

from __future__ import annotations

from typing import Any

from saltern.fleet.api.pages import Limit, PageQuery
from saltern.fleet.api.shapes import ApiAnswer, Body, Digest, JobId, Number, Query, Tag, Target, Word


class JobsQuery(PageQuery, frozen=True, kw_only=True):
    """Which jobs are listed."""

    user: Word = ""
    function: Word = ""
    parent: Word = ""
    system: Word = ""
    open: bool = False


class TargetsQuery(PageQuery, frozen=True, kw_only=True):
    """Which systems of a job are listed."""

    status: Word = ""


class SubmitBody(Body, frozen=True, kw_only=True):
    """What to run where. ``life``: seconds for which the job is offered to systems that are away.

    ``wait`` is the same, and 0 leaves out systems that are away. ``client_token``: like the header
    ``Client-Token``. ``batch``: on how many systems it runs at a time (``3``, ``10%``); ``batch_wait``:
    seconds between the end on one and the start on the next; ``batch_failures``: if more fail, the rest is
    left out. ``returners``: what each system calls with its return; ``return_options``: their settings, which
    are Salt's ``ret_config`` and ``ret_kwargs``.
    """

    function: Word
    target: Target
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    test: bool = False
    environment: Word = "base"
    life: float | None = None
    wait: float | None = None
    changing: bool | None = None
    time_limit: float = 0
    splay: float = 0
    parent: JobId | None = None
    client_token: str | None = None
    tree: Digest = ""
    batch: Word = ""
    batch_wait: float = 0
    batch_failures: Word = ""
    returners: list[Word] = []
    return_options: dict[str, Any] = {}


class SubmitQuery(Query, frozen=True, kw_only=True):
    """``returns``: whether a stream has what the systems return."""

    returns: bool = True


class SubmitAnswer(ApiAnswer, frozen=True, kw_only=True):
    """The job. ``away``: the systems that will get it later, and since when they are away; a system that is
    not expected was left out.

    ``known``: the job of an earlier request with the same client token. ``cursor``: from where to follow it.
    """

    jid: str
    expected: list[str]
    away: dict[str, float | None]
    expires: float
    known: bool
    cursor: int


class CancelBody(Body, frozen=True, kw_only=True):
    """``hard``: stop a running job at once, instead of before its next state."""

    hard: bool = False


class CancelAnswer(ApiAnswer, frozen=True, kw_only=True):
    """What happens on each system where the job had not ended: ``cancelled``, ``asked`` or ``away``."""

    systems: dict[str, str]


class JobListed(ApiAnswer, frozen=True, kw_only=True):
    """A job in a list: ``open`` of its ``expected`` systems have not ended yet."""

    jid: str
    created: float
    expires: float
    user: str
    function: str
    target: str
    expected: int
    open: int
    parent: str | None
    cancelled_at: float | None
    ended: float | None


class JobAnswer(JobListed, frozen=True, kw_only=True):
    """A job: what it runs, and how many systems have which status. Secret arguments are concealed."""

    args: list[Any]
    kwargs: dict[str, Any]
    test: bool
    changing: bool
    environment: str
    tree: str
    rule: str
    cancelled_by: str
    counts: dict[str, int]


class TargetAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A job on one system, and its progress. ``done`` of ``total`` states and the current ``state`` are the
    agent's last report about a running job.
    """

    jid: str
    system: str
    status: str
    why: str
    updated: float
    started: float | None
    ended: float | None
    exit_code: int
    changed: int
    failed: int
    records: int
    back_by: float | None
    done: int = 0
    total: int = 0
    state: str = ""


class ReturnAnswer(TargetAnswer, frozen=True, kw_only=True):
    """What a system returned: ``body`` is what the same verb prints there with ``--out json``."""

    body: Any


class RecordAnswer(ApiAnswer, frozen=True, kw_only=True):
    """One record of the journal of a job on a system."""

    number: int
    data: Any


class EventsQuery(Query, frozen=True, kw_only=True):
    """Which events: after which cursor, and with which tags."""

    limit: Limit = 100
    after: Number | None = None
    tag: Tag = "*"


class FollowQuery(Query, frozen=True, kw_only=True):
    """Where to continue: the number of the last notice that the reader has."""

    after: Number | None = None


class EventAnswer(ApiAnswer, frozen=True, kw_only=True):
    """An event: ``number`` is the cursor of its readers."""

    number: int
    at: float
    tag: str
    system: str
    data: dict[str, Any]


class EventsAnswer(ApiAnswer, frozen=True, kw_only=True):
    """Some events. ``cursor`` is where to continue next time, even if there is nothing yet."""

    items: list[EventAnswer]
    next: str | None
    cursor: int


class NewestEvent(ApiAnswer, frozen=True, kw_only=True):
    """The number of the newest event: a reader that follows from there misses nothing."""

    number: int


class AuditAnswer(ApiAnswer, frozen=True, kw_only=True):
    """Who did what."""

    number: int
    at: float
    who: str
    action: str
    detail: dict[str, Any]
    digest: str


class AuditVerified(ApiAnswer, frozen=True, kw_only=True):
    """Whether the audit's hash chain is intact; note ``number`` and ``digest`` of its last row."""

    whole: bool
    problem: str
    number: int
    digest: str


class AuditNoted(Query, frozen=True, kw_only=True):
    """A row that was noted before, which also reveals rows removed at the end."""

    number: Number = 0
    digest: Digest = ""
