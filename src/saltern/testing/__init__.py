"""For tests of your own states: a tree of files, a machine in memory, and the result of a run.

``from saltern.testing import StateTree, MemoryHost, ok, failed``; with pytest, the fixture ``saltern_tree``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from saltern.language.result import Outcome, Result, failed, ok
    from saltern.testing.memory import MemoryHost
    from saltern.testing.runs import Ran
    from saltern.testing.tree import StateTree

__all__ = ["MemoryHost", "Outcome", "Ran", "Result", "StateTree", "failed", "ok"]

# The module of each name, imported on demand: every pytest imports this package if saltern is installed.
_PLACES = {
    "MemoryHost": "saltern.testing.memory",
    "Ran": "saltern.testing.runs",
    "StateTree": "saltern.testing.tree",
    **dict.fromkeys(("Outcome", "Result", "failed", "ok"), "saltern.language.result"),
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PLACES[name]), name)
