"""Bodies and answers about stored chains, maintenance windows and schedules."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from saltern.fleet.api.pages import PageQuery
from saltern.fleet.api.shapes import ApiAnswer, Body, Target, Word

Text = Annotated[str, Meta(min_length=1, max_length=2_000_000)]
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")]


class ChainsQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``archived``: include archived chains."""

    archived: bool = False


class ChainAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A chain, and its newest version."""

    name: str
    owner: str
    description: str
    created: float
    created_by: str
    version: int
    sha256: str
    changed: float
    changed_by: str
    archived_at: float | None = None


class ChainBody(Body, frozen=True, kw_only=True):
    """A text of a chain. ``base``: the version that was edited; refused if there is a newer one."""

    text: Text
    note: str = ""
    base: int | None = None
    client_token: str | None = None


class VersionAnswer(ApiAnswer, frozen=True, kw_only=True):
    """One version of a chain."""

    chain: str
    number: int
    text: str
    sha256: str
    author: str
    created: float
    note: str = ""


class VersionQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``version``: its number; the newest without one."""

    version: int | None = None


class ChainDiffQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two versions; without them, the last two."""

    old: int | None = None
    new: int | None = None


class ChainDiff(ApiAnswer, frozen=True, kw_only=True):
    """What differs, as a unified diff."""

    old: int
    new: int
    lines: list[str]


class ValidateBody(Body, frozen=True, kw_only=True):
    """A text of a chain and a target, to be compared with real systems."""

    text: Text
    target: Target = "*"


class FindingAnswer(ApiAnswer, frozen=True, kw_only=True):
    """One thing that is wrong, or may be."""

    level: str
    what: str
    action: str = ""
    systems: list[str] = []


class Validated(ApiAnswer, frozen=True, kw_only=True):
    """The findings of a check; the chain is good if none of them is an error."""

    findings: list[FindingAnswer]


class ArchiveBody(Body, frozen=True, kw_only=True):
    """``undo``: restore it."""

    undo: bool = False


class CalendarBody(Body, frozen=True, kw_only=True):
    """A calendar of windows in which work is allowed or denied, as iCalendar."""

    name: Name
    text: Text
    kind: Literal["allow", "deny"] = "allow"
    zone: Word = "UTC"
    target: Target = "*"
    note: str = ""


class CalendarAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A calendar, and whether it has an open window now."""

    name: str
    kind: str
    zone: str
    target: str
    note: str
    author: str
    changed: float
    text: str
    open: bool
    next: float | None = None


class WindowQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``needs``: seconds that the work takes. ``at``: another time than now."""

    target: Target = "*"
    needs: float = 0
    at: float | None = None
    count: Annotated[int, Meta(ge=1, le=100)] = 5


class WindowAnswer(ApiAnswer, frozen=True, kw_only=True):
    """Whether work may begin on a system, why not, and its next windows as pairs of times."""

    system: str
    open: bool
    why: str = ""
    until: float | None = None
    next: float | None = None
    windows: list[list[float]] = []
    calendars: list[str] = []


class ScheduleBody(Body, frozen=True, kw_only=True):
    """A chain and its times. ``version``: pins a version; without it, the newest when it fires."""

    name: Name
    chain: Word
    cron: Word
    target: Target = "*"
    zone: Word = "UTC"
    version: int | None = None
    inputs: dict[str, Any] = {}
    strategy: dict[str, Any] = {}
    overlap: Literal["skip", "queue", "allow"] = "skip"
    catch_up: Literal["none", "one", "all"] = "one"
    enabled: bool = True


class ScheduleAnswer(ApiAnswer, frozen=True, kw_only=True):
    """A schedule, and when it fires next."""

    name: str
    chain: str
    version: int | None
    target: str
    cron: str
    zone: str
    overlap: str
    catch_up: str
    enabled: bool
    author: str
    changed: float
    next_at: float | None = None
    last_at: float | None = None
    last_run: str = ""
    last_why: str = ""
