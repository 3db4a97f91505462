"""Named points at which a test may break the program, as a crash would."""

from __future__ import annotations

from collections.abc import Callable

_watch: Callable[[str], None] | None = None


def point(name: str) -> None:
    """Mark a point before or after something that must survive a crash."""
    if _watch is not None:
        _watch(name)


def watch(call: Callable[[str], None] | None) -> None:
    """For tests: ``call`` is called at every point, and may end the process or raise."""
    global _watch
    _watch = call
