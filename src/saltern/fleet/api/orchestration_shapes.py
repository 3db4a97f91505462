"""Bodies and answers about orchestrations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from saltern.fleet.api.shapes import ApiAnswer, Body, JobId, Word

Amount = Annotated[int, Meta(ge=0, le=2**31)]
Text = Annotated[str, Meta(max_length=2000, pattern=r"^[^\x00]*$")]
SystemId = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"^[^\x00/]+$")]


class OrchestrationBody(Body, frozen=True, kw_only=True):
    """An orchestration that begins: its number, its files, and ``system``, where its process runs."""

    jid: JobId
    sls: Annotated[list[Word], Meta(min_length=1, max_length=100)]
    system: SystemId
    test: bool = False
    environment: Word = "base"
    parent: JobId | None = None


class OrchestrationBegan(ApiAnswer, frozen=True, kw_only=True):
    """``cursor``: its events have higher numbers. ``known``: it was already recorded; ``cancelled``: it was
    cancelled.
    """

    jid: str
    cursor: int
    known: bool
    cancelled: bool


class OrchestrationEnd(Body, frozen=True, kw_only=True):
    """How an orchestration ended. ``report`` is what its command prints with ``--out json``."""

    status: Literal["returned", "failed", "cancelled"]
    exit_code: Amount = 0
    changed: Amount = 0
    failed: Amount = 0
    started: Annotated[float, Meta(ge=0, le=2**40)] = 0
    why: Text = ""
    report: Any = None
