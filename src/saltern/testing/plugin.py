"""The pytest plugin. Every pytest imports it if saltern is installed, so it imports nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from saltern.testing.memory import MemoryHost
    from saltern.testing.tree import StateTree


@pytest.fixture
def saltern_tree(tmp_path: Path) -> Callable[..., StateTree]:
    """``saltern_tree(files, grains=…, pillar=…, functions=…, states=…, host=…)`` or ``saltern_tree(root=…)``.

    Trees of one test share a directory; give ``root`` to test an existing tree.
    """
    from saltern.testing.tree import StateTree

    made = 0

    def make(*args: object, **options: object) -> StateTree:
        nonlocal made
        made += 1
        return StateTree(str(tmp_path / f"tree{made}"), *args, **options)  # type: ignore[arg-type]

    return make


@pytest.fixture
def saltern_host() -> MemoryHost:
    """A machine in memory with the usual directories, no files and no commands."""
    from saltern.testing.memory import MemoryHost

    return MemoryHost()
