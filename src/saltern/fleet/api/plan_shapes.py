"""Bodies and answers about plans of chains."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from saltern.fleet.api.pages import PageQuery
from saltern.fleet.api.shapes import TEXT, ApiAnswer, Body, Target, Word
from saltern.fleet.chains.rollout import Rollout


class ChainPlanBody(Body, frozen=True, kw_only=True):
    """A chain by its name, with a version or the newest, or the text of one; and where and how it would run.

    ``pinned``: the systems stay the current ones, even if the target matches others later. ``wait``: seconds
    that systems have for the dry run.
    """

    target: Target
    chain: Word = ""
    version: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None
    text: Annotated[str, Meta(max_length=600_000, pattern=TEXT)] = ""
    inputs: dict[str, Any] = {}
    rollout: Rollout = Rollout()
    environment: Word = "base"
    pinned: bool = False
    wait: Annotated[float, Meta(ge=1, le=3600)] = 300


class ChainPlanMade(ApiAnswer, frozen=True, kw_only=True):
    """The number of the plan; it has its digest when the dry run is over."""

    plan: str


class ChainPlansQuery(PageQuery, frozen=True, kw_only=True):
    """Which plans are listed."""

    chain: Word = ""


class ChainPlanListed(ApiAnswer, frozen=True, kw_only=True):
    """A plan as it is listed. ``status``: ``open`` until the dry run is over, then ``ready``."""

    plan: str
    sha256: str
    status: str
    chain: str
    version: int
    target: str
    author: str
    created: float


class PlannedSystemShown(ApiAnswer, frozen=True, kw_only=True):
    """What one system would do. ``facts``: the facts that were read, each as a list with its value, or an
    empty list for one that the system lacks."""

    system: str
    steps: list[dict[str, Any]]
    facts: dict[str, list[Any]]


class ChainPlanShown(ApiAnswer, frozen=True, kw_only=True):
    """A plan. ``waiting``: systems whose dry run is not over. ``unplanned``: those that could not be planned,
    and why. ``estimate``: seconds, from earlier runs of the actions. ``signer``: who signed it."""

    plan: str
    sha256: str
    status: str
    chain: str
    version: int
    target: str
    author: str
    created: float
    pinned: bool
    environment: str
    tree: str
    inputs: dict[str, Any]
    rollout: dict[str, Any]
    waiting: list[str]
    systems: list[PlannedSystemShown]
    unplanned: dict[str, str]
    estimate: dict[str, Any]
    signer: str
