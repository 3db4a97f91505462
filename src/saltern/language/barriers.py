"""What a state can ask for that ends this process, and what came of it: a reboot, or another build.

The words of a return that ask for it, and the rules, are in ``runtime.barriers``.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Barrier(Struct, frozen=True, kw_only=True):
    """What a state asks for. ``ask`` has the details, such as deadlines: plain data."""

    kind: str
    when: str
    ask: Mapping[str, object] = {}


class Crossing(Struct, frozen=True, kw_only=True):
    """What came of a barrier. ``why`` says why it was not crossed; empty if it was."""

    kind: str
    when: str
    ask: Mapping[str, object]
    before: Mapping[str, object]
    now: Mapping[str, object]
    why: str = ""
    fresh: bool = True  # the state has not been called since
    times: int = 1
