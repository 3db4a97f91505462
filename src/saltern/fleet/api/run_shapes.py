"""Bodies and answers about runs with many systems, and about the fleet at a glance."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from saltern.fleet.api.pages import PageQuery
from saltern.fleet.api.shapes import ApiAnswer, Query, Target, Word

Time = Annotated[float, Meta(ge=0, le=4e9)]


class ShapesQuery(Query, frozen=True, kw_only=True):
    """``at``: as it was at this time. ``most``: this many rows; the rest is counted."""

    at: Time | None = None
    most: Annotated[int, Meta(ge=1, le=1000)] = 40


class ActionHead(ApiAnswer, frozen=True, kw_only=True):
    """A column of the matrix. ``barrier``: a reboot or an update; the actions after it form another
    segment.
    """

    id: str
    kind: str
    final: bool
    barrier: bool
    segment: int


class ShapeRow(ApiAnswer, frozen=True, kw_only=True):
    """Systems of one wave whose steps all have the same statuses; ``systems`` names some of them.

    ``cells``: the status of each action, ``changed`` for a success that changed something, empty where they
    do not have it.
    """

    wave: int
    count: int
    status: str
    away: bool
    cells: list[str]
    systems: list[str]
    begun: float | None
    ended: float | None
    waits_for: str


class ShapeWave(ApiAnswer, frozen=True, kw_only=True):
    """A wave: how many of its systems have which status, and how many have which at each action."""

    wave: int
    stage: str
    status: str
    soak_until: float
    systems: int
    legs: dict[str, int]
    steps: list[dict[str, int]]


class ShapesAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A run as a matrix with equal rows grouped. ``why``: what it waits for, or why it halted."""

    run: str
    chain: str
    version: int
    target: str
    author: str
    created: float
    ended: float | None
    deadline: float
    plan_sha256: str
    why: str
    max_failures: str
    gates: list[dict[str, Any]]
    status: str
    systems: int
    legs: dict[str, int]
    actions: list[ActionHead]
    waves: list[ShapeWave]
    rows: list[ShapeRow]
    more_rows: int
    more_systems: int


class RowsQuery(PageQuery, frozen=True, kw_only=True):
    """Which systems."""

    status: Word = ""
    wave: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None


class RowsAnswer(ApiAnswer, frozen=True, kw_only=True):
    """Systems, each as a row of its own, with the columns."""

    actions: list[ActionHead]
    items: list[ShapeRow]
    next: str | None


class CauseAnswer(ApiAnswer, frozen=True, kw_only=True):
    """Systems that failed for one reason: the same action, status and message, except for names and numbers.

    ``some`` names a few; ``shared``: facts that nearly all of them have, and nearly none of the others.
    """

    run: str
    chain: str
    step: str
    status: str
    message: str
    pattern: str
    count: int
    some: list[str]
    waves: list[int]
    since: float | None
    shared: list[str]
    systems: list[str] = []


class CausesAnswer(ApiAnswer, frozen=True, kw_only=True):
    """The causes, those of most systems first; ``more`` have been left out."""

    items: list[CauseAnswer]
    more: int
    more_systems: int


class CauseQuery(Query, frozen=True, kw_only=True):
    """``most``: this many causes. ``names``: include the names of all their systems."""

    most: Annotated[int, Meta(ge=1, le=500)] = 50
    names: bool = False


class RecentQuery(CauseQuery, frozen=True, kw_only=True):
    """``since``: include runs that ended after this; by default, in the last 24 hours."""

    since: Time | None = None


class MomentAnswer(ApiAnswer, frozen=True, kw_only=True):
    """Something that happened to a run."""

    at: float
    what: str
    kind: str


class MomentsAnswer(ApiAnswer, frozen=True, kw_only=True):
    """What happened, the oldest first."""

    items: list[MomentAnswer]


class SystemLeg(ApiAnswer, frozen=True, kw_only=True):
    """A run on one system: the result here, not that of the run."""

    run: str
    chain: str
    version: int
    status: str
    run_status: str
    away: bool
    wave: int
    begun: float | None
    ended: float | None
    waits_for: str
    quarantined: bool
    done: int
    steps: int
    failed_at: str


class GlanceQuery(Query, frozen=True, kw_only=True):
    """Which systems; all of them without a target. ``facts``: include the facts that divide them.
    ``versions``: include the versions of their agents.
    """

    target: Target = ""
    facts: bool = True
    versions: bool = True


class FacetValue(ApiAnswer, frozen=True, kw_only=True):
    """A value of a fact, how many systems have it, and the target that narrows to them."""

    value: str
    count: int
    target: str


class Facet(ApiAnswer, frozen=True, kw_only=True):
    """A fact with its values, the most frequent first; ``more`` values of ``rest`` systems are left out."""

    name: str
    values: list[FacetValue]
    more: int
    rest: int


class GlanceAnswer(ApiAnswer, frozen=True, kw_only=True):
    """Systems at a glance. ``hints``: facts of the target that no system has, and what may be meant."""

    total: int
    matched: int
    connected: int
    rebooting: int
    silent: int
    gone: int
    pending: int
    versions: dict[str, int]
    facets: list[Facet]
    hints: list[str]


class StatesQuery(PageQuery, frozen=True, kw_only=True):
    """Which systems, the worst first; ``state``: only those in this one."""

    target: Target = ""
    state: Word = ""


class StateAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A system with its current problem. ``run``: the run that the problem belongs to. ``needs``: a reboot,
    by its own facts, or an agent update, if its agent is of another version than the controller.
    """

    id: str
    state: str
    note: str
    run: str
    chain: str
    online: bool
    seen_at: float | None
    back_by: float | None
    version: str
    kind: str
    needs: list[str]
    booted_at: float | None
    facts: dict[str, Any]


class StatesAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A page of them. ``states``: how many of the systems that the target matches are in which state."""

    items: list[StateAnswer]
    next: str | None
    first: int
    total: int
    states: dict[str, int]
