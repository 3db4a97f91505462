"""The job call that a verb with ``--on`` becomes."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Call(Struct, frozen=True, kw_only=True):
    """What a job calls on each system."""

    function: str
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    test: bool = False
