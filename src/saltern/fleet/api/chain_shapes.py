"""Bodies and answers about runs of chains."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from saltern.fleet.api.pages import PageQuery
from saltern.fleet.api.shapes import TEXT, ApiAnswer, Body, Digest, Target, Word
from saltern.fleet.chains.rollout import Rollout

Reason = Annotated[str, Meta(max_length=2000, pattern=TEXT)]


class ChainRunsQuery(PageQuery, frozen=True, kw_only=True):
    """Which runs are listed."""

    chain: Word = ""
    open: bool = False


class ChainRunBody(Body, frozen=True, kw_only=True):
    """A chain by its name, with a version or the newest, or the text of one; and where and how it runs.

    ``plan``: the digest of a stored plan; then only a client token may be given in addition.
    """

    target: Target | None = None
    plan: Word = ""
    chain: Word = ""
    version: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None
    text: Annotated[str, Meta(max_length=600_000, pattern=TEXT)] = ""
    inputs: dict[str, Any] = {}
    rollout: Rollout = Rollout()
    environment: Word = "base"
    client_token: str | None = None


class ChainRunMade(ApiAnswer, frozen=True, kw_only=True):
    """The run. ``known``: an earlier request with the same client token has made it."""

    run: str
    systems: list[str]
    status: str
    plan_sha256: str
    known: bool = False


class ChainRunListed(ApiAnswer, frozen=True, kw_only=True):
    """A run as it is listed. ``legs``: how many legs have which status."""

    run: str
    chain: str
    version: int
    target: str
    status: str
    author: str
    created: float
    ended: float | None
    deadline: float
    halted: str
    legs: dict[str, int]
    why: str = ""


class WaveShown(ApiAnswer, frozen=True, kw_only=True):
    """One wave, named by its number from 1 on. ``health``: the result of its health check."""

    wave: int
    stage: str
    status: str
    soak_until: float
    systems: int
    gate: str = ""
    health: str = ""


class GateShown(ApiAnswer, frozen=True, kw_only=True):
    """What must be approved, by how many people, until when."""

    gate: str
    needed: int
    of: str
    status: str
    expires: float | None
    plan_sha256: str
    votes: list[dict[str, Any]]


class RevisionShown(ApiAnswer, frozen=True, kw_only=True):
    """Other inputs for the actions that some systems had not done yet; they apply once it is ``in force``."""

    number: int
    status: str
    author: str
    at: float
    plan_sha256: str
    inputs: dict[str, Any]
    systems: list[str]


class LegShown(ApiAnswer, frozen=True, kw_only=True):
    """One system. ``away``: it is not connected now; since when, and by when it must be back. ``waits_for``:
    what it waits for, or why it ended. ``note``: the message of its failed action; ``since``: when the
    running action began."""

    system: str
    wave: int
    status: str
    away: bool
    current: str
    waits_for: str
    quarantined: bool
    ended: float | None
    note: str = ""
    since: float | None = None
    away_since: float | None = None
    back_by: float | None = None


class ChainRunShown(ApiAnswer, frozen=True, kw_only=True):
    """A run with its waves, gates and legs. ``why``: what it waits for, or why it halted. ``inputs``: its
    inputs; secret ones are concealed."""

    run: str
    chain: str
    version: int
    target: str
    status: str
    author: str
    created: float
    ended: float | None
    deadline: float
    why: str
    plan_sha256: str
    inputs: dict[str, Any]
    revisions: list[RevisionShown]
    strategy: dict[str, Any]
    waves: list[WaveShown]
    gates: list[GateShown]
    legs: list[LegShown]
    begun: float | None = None


class StepShown(ApiAnswer, frozen=True, kw_only=True):
    """One action on one system."""

    action: str
    kind: str
    status: str
    blocked_by: str
    attempts: int
    changed: bool
    comment: str
    took: float
    started: float | None
    ended: float | None
    final: bool
    chunk: str
    note: str = ""
    exit_code: int | None = None
    tries: list[dict[str, Any]] = []


class LegAnswer(ApiAnswer, frozen=True, kw_only=True):
    """One system of a run with all its steps, and its orders. ``boot`` and ``build``: those last
    seen; ``boots``: the boots during the run."""

    run: str
    chain: str
    system: str
    status: str
    away: bool
    waits_for: str
    quarantined: bool
    steps: list[StepShown]
    orders: list[dict[str, Any]]
    wave: int = 0
    begun: float | None = None
    ended: float | None = None
    away_since: float | None = None
    back_by: float | None = None
    boot: str = ""
    build: str = ""
    boots: list[dict[str, Any]] = []


class OutputsQuery(PageQuery, frozen=True, kw_only=True):
    """Which action of a system, and which attempt of it; without them, all."""

    action: Word = ""
    attempt: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None


class OutputListed(ApiAnswer, frozen=True, kw_only=True):
    """One stream of one attempt. ``size``: characters that were printed; ``cut``: some were left out."""

    system: str
    action: str
    attempt: int
    stream: str
    size: int
    cut: bool


class OutputAnswer(OutputListed, frozen=True, kw_only=True):
    """The output: all of it, or its end."""

    text: str


class MatrixRow(ApiAnswer, frozen=True, kw_only=True):
    """One system: the status of each action in the order of ``actions``; empty: the system does not have the
    action.
    """

    system: str
    wave: int
    status: str
    away: bool
    cells: list[str]


class MatrixAnswer(ApiAnswer, frozen=True, kw_only=True):
    """Systems by actions."""

    run: str
    status: str
    why: str
    actions: list[str]
    rows: list[MatrixRow]


class ChainOrderBody(Body, frozen=True, kw_only=True):
    """An order about a run, or about some of its systems or waves (from 1 on). ``inputs``: for a retry: other
    inputs for the actions that were not done yet."""

    verb: Literal["pause", "resume", "cancel", "retry", "skip", "done", "release", "unlock"]
    systems: list[Word] = []
    waves: list[Annotated[int, Meta(ge=1, le=2**31 - 1)]] = []
    step: Word = ""
    reason: Reason = ""
    hard: bool = False
    despite_failures: bool = False
    inputs: dict[str, Any] = {}
    client_token: str | None = None


class ChainOrdered(ApiAnswer, frozen=True, kw_only=True):
    """What the order changed: ``run`` for the run itself, and each system."""

    changed: dict[str, str]


class ChainVoteBody(Body, frozen=True, kw_only=True):
    """A vote on a gate; ``plan_sha256`` is the plan that the voter has seen."""

    approves: bool
    plan_sha256: Digest
    reason: Reason = ""


class ChainVoted(ApiAnswer, frozen=True, kw_only=True):
    """The gate after the vote."""

    gate: str
    status: str


class ChainLogRow(ApiAnswer, frozen=True, kw_only=True):
    """Something that happened to a run: an order of an operator, an order to a system, a vote, the
    end of a gate's time.
    """

    at: float
    what: str
    who: str = ""
    about: str = ""
    detail: str = ""
