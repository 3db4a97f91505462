"""Barriers: requests of a state that end this process (a reboot, another build), and their outcomes.

The form of such a request in a return, and the rules, are in ``runtime.barriers``.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Barrier(Struct, frozen=True, kw_only=True):
    """The request of a state. ``ask`` has the details, such as deadlines, as plain data."""

    kind: str
    when: str
    ask: Mapping[str, object] = {}


class Crossing(Struct, frozen=True, kw_only=True):
    """The outcome of a barrier. ``why`` says why it was not crossed; empty if it was."""

    kind: str
    when: str
    ask: Mapping[str, object]
    before: Mapping[str, object]
    now: Mapping[str, object]
    why: str = ""
    fresh: bool = True  # the state has not been called since
    times: int = 1
