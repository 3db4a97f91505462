"""What a process of a ``runner`` or ``wheel`` reaction is given, and what it answers."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class RunnerCall(Struct, frozen=True, kw_only=True):
    """What to call. ``jid`` is the number of the reaction: what it starts has that as its parent."""

    kind: str
    function: str
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    controller: str
    jid: str


class RunnerAnswer(Struct, frozen=True, kw_only=True):
    """What came of it, or why nothing did."""

    value: Any = None
    problem: str = ""
