"""The input and the answer of a process of a ``runner`` or ``wheel`` reaction."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class RunnerCall(Struct, frozen=True, kw_only=True):
    """What to call. ``jid`` is the number of the reaction, the parent of what it starts."""

    kind: str
    function: str
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    controller: str
    jid: str


class RunnerAnswer(Struct, frozen=True, kw_only=True):
    """The result, or why there is none."""

    value: Any = None
    problem: str = ""
