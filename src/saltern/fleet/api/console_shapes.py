"""Bodies and answers for people: drafts of chains, the inbox, the calendar, grouped answers, past events."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from saltern.fleet.api.job_shapes import EventAnswer
from saltern.fleet.api.pages import PageQuery
from saltern.fleet.api.shapes import TEXT, ApiAnswer, Body, Number, Query, Tag, Target, Word

Time = Annotated[float, Meta(ge=0, le=4e9)]
ChainText = Annotated[str, Meta(max_length=600_000, pattern=TEXT)]
Index = Annotated[int, Meta(ge=0, le=100_000)]
ActionList = Literal["actions", "finally"]


# -- drafts of chains -----------------------------------------------------------------------------------


class EditBody(Body, frozen=True, kw_only=True):
    """One change of a chain's text. ``add`` inserts ``action`` at the place, ``set`` replaces it there,
    ``move`` moves the action of the place to ``to``; ``head`` sets keys of the chain itself.
    """

    verb: Literal["add", "set", "move", "copy", "remove", "head"]
    list: ActionList = "actions"
    index: Index = 0
    to_list: ActionList = "actions"
    to: Index = 0
    action: dict[str, Any] = {}
    head: dict[str, Any] = {}


class DraftBody(Body, frozen=True, kw_only=True):
    """The text of a chain, and the changes to make in it, in order."""

    text: ChainText = ""
    edits: Annotated[list[EditBody], Meta(max_length=20)] = []


class FlawAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A problem in the text: its line (from 1), its action and key, and what to do. ``repair``: the number of
    seconds that a value such as ``60m`` means.
    """

    code: str
    what: str
    line: int
    column: int
    fix: str
    list: str
    index: int
    field: str
    repair: float | None = None


class DraftAction(ApiAnswer, frozen=True, kw_only=True):
    """One action of the text: its contents, its first and last line, and its segment."""

    list: str
    index: int
    id: str
    kind: str
    title: str
    summary: str
    given: dict[str, Any]
    first: int
    last: int
    segment: int
    barrier: bool
    safety: str


class DraftAnswer(ApiAnswer, frozen=True, kw_only=True):
    """The text after the change, what it does, and its problems: those of ``saltern chain check``."""

    text: str
    chain: str
    description: str
    segments: int
    actions: list[DraftAction]
    problems: list[FlawAnswer]


class UsualAnswer(ApiAnswer, frozen=True, kw_only=True):
    """Seconds within which half of the last runs of a chain ended, and 19 of 20; null if none has ended.

    ``actions``: the same for each action that has succeeded, for half of its last executions.
    """

    p50: float | None
    p95: float | None
    actions: dict[str, float] = {}


class FieldAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A key of an action. ``type`` is text, number, whole, switch, choice, list, words (a text or a list) or
    mapping.
    """

    name: str
    type: str
    required: bool
    default: Any = None
    choices: list[str] = []


class KindAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A kind of action. ``short`` is the key that a plain value is for; ``safety`` says what happens if the
    machine crashes in the middle of it.
    """

    kind: str
    about: str
    short: str
    barrier: bool
    looks: bool
    safety: str
    fields: list[FieldAnswer]


class KindsAnswer(ApiAnswer, frozen=True, kw_only=True):
    """All kinds of actions, and the keys that every action may have."""

    kinds: list[KindAnswer]
    policy: list[FieldAnswer]


# -- what waits -----------------------------------------------------------------------------------------


class WaitingAnswer(ApiAnswer, frozen=True, kw_only=True):
    """Something that waits for a person. ``kind``: ``gate`` of a run, ``approval`` of a job, ``run`` that
    is halted or paused, ``leg`` whose end is unknown, ``key`` of a system. ``yours``: the caller may decide
    it; else ``why_not`` says why not. ``digest`` is what a decision is bound to.
    """

    kind: str
    id: str
    what: str
    about: str = ""
    run: str = ""
    gate: str = ""
    chain: str = ""
    asked_by: str = ""
    since: float = 0
    until: float | None = None
    needed: int = 0
    have: int = 0
    of: str = ""
    systems: int = 0
    digest: str = ""
    yours: bool = False
    why_not: str = ""


class InboxAnswer(ApiAnswer, frozen=True, kw_only=True):
    """All that waits, the oldest first; ``keys``: how many keys of systems wait; only one of them is
    listed.
    """

    items: list[WaitingAnswer]
    yours: int
    keys: int


class InboxCount(ApiAnswer, frozen=True, kw_only=True):
    """How many things wait for a decision; all keys that wait are one of them."""

    waiting: int


# -- the calendar ---------------------------------------------------------------------------------------


class CalendarQuery(Query, frozen=True, kw_only=True):
    """Which days: ``begin`` is a time, by default now. ``count``: include the number of systems. ``usual``:
    include how long the planned runs usually take.
    """

    begin: Time | None = None
    days: Annotated[int, Meta(ge=1, le=35)] = 7
    count: bool = False
    usual: bool = True


class CalendarRow(ApiAnswer, frozen=True, kw_only=True):
    """A calendar of windows on these days: pairs of begin and end."""

    name: str
    kind: str
    target: str
    note: str
    zone: str
    systems: int | None
    windows: list[list[float]]


class FireAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A schedule that fires: when, and how long its chain usually takes (half, and 19 of 20 runs)."""

    schedule: str
    chain: str
    target: str
    at: float
    p50: float | None = None
    p95: float | None = None


class CalendarSheet(ApiAnswer, frozen=True, kw_only=True):
    """Windows, and what is planned; ``more``: schedules that fire too often to list every time."""

    begin: float
    end: float
    now: float
    calendars: list[CalendarRow]
    fires: list[FireAnswer]
    more: list[str]


class WhyQuery(Query, frozen=True, kw_only=True):
    """A target, and the chain that would run there, or the seconds that work needs."""

    target: Target = "*"
    chain: Word = ""
    needs: Annotated[float, Meta(ge=0, le=366 * 86_400.0)] = 0
    at: Time | None = None


class WhyGroup(ApiAnswer, frozen=True, kw_only=True):
    """Systems in the same situation: they may begin, must wait for a window, are held by another run, or are
    away. ``some`` are the first few of them.
    """

    state: Literal["open", "waits", "held", "away"]
    why: str
    systems: int
    some: list[str]
    until: float | None = None
    next: float | None = None
    run: str = ""
    calendars: list[str] = []


class WhyAnswer(ApiAnswer, frozen=True, kw_only=True):
    """Why work may begin or not, with systems in the same situation grouped. ``needs``: seconds it needs."""

    target: str
    systems: int
    needs: float
    groups: list[WhyGroup]


# -- equal answers --------------------------------------------------------------------------------------


class AnswerGroup(ApiAnswer, frozen=True, kw_only=True):
    """Systems that answered the same; ``some`` are the first few. ``text`` is the answer in readable form,
    cut after some thousand characters; ``lines`` is the number of its lines.
    """

    systems: int
    some: list[str]
    status: str
    why: str
    exit_code: int
    changed: int
    failed: int
    text: str
    lines: int
    cut: bool


class AnswersAnswer(ApiAnswer, frozen=True, kw_only=True):
    """The answers of a job, with equal ones grouped, and the systems that have not answered."""

    jid: str
    expected: int
    answered: int
    groups: list[AnswerGroup]
    missing: list[AnswerGroup]
    more: int


# -- past events ----------------------------------------------------------------------------------------


class HistoryQuery(PageQuery, frozen=True, kw_only=True):
    """Which events, the newest first."""

    tag: Tag = "*"
    system: Word = ""
    since: Time | None = None
    until: Time | None = None


class HistoryAnswer(ApiAnswer, frozen=True, kw_only=True):
    """Events, the newest first. ``newest``: the cursor that only later events follow."""

    items: list[EventAnswer]
    next: str | None
    newest: Number


class CountsQuery(Query, frozen=True, kw_only=True):
    """Which events are counted, and in how many intervals; without a time, those of the last day."""

    tag: Tag = "*"
    system: Word = ""
    since: Time | None = None
    until: Time | None = None
    parts: Annotated[int, Meta(ge=1, le=500)] = 100


class CountsAnswer(ApiAnswer, frozen=True, kw_only=True):
    """The number of events in each interval, by subject: job, chain, key, alarm …"""

    since: float
    until: float
    parts: int
    counts: dict[str, list[int]]
    total: int
