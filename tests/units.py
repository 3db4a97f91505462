"""How tests are shared out to processes: by units, the longest of which begin first.

A unit is what shares something that is expensive to start. It is a file, or the folders of a row of ``UNITS``
in ``tests/groups.py``. One process runs all of it, so that each server and each fleet is started once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tests.groups import longest_first, unit_of
from xdist.scheduler.worksteal import WorkStealingScheduling

LEAST = 2  # tests that a process has to know of: it ends the fixtures of one as the next one needs it


class UnitScheduling(WorkStealingScheduling):  # type: ignore[misc]  # xdist has no types
    """Units from one queue: a process that has done its own takes the next one. Nothing is stolen."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        self.collection: list[str] | None = None
        self.sizes: list[int] = []

    def schedule(self) -> None:
        if self.collection is None and self._check_nodes_have_same_collection():
            self.collection = found = next(iter(self.node2collection.values()))
            units = list(in_units(found))
            self.sizes = [len(unit) for unit in units]
            self.pending[:] = [index for unit in units for index in unit]
        if self.collection:
            self.check_schedule()

    def check_schedule(self) -> None:
        for node, known in self.node2pending.items():
            while not node.shutting_down and len(known) < LEAST:
                if self.pending:
                    self._send_tests(node, self._next_size())
                else:
                    node.shutdown()

    def _next_size(self) -> int:
        """How many tests the next unit has; what was left by a process that died is the last one."""
        return self.sizes.pop(0) if self.sizes else len(self.pending)


def in_units(collection: Sequence[str]) -> Iterator[list[int]]:
    """The indices of all tests, unit by unit; within a unit their order stays."""
    units: dict[str, list[int]] = {}
    for index, nodeid in enumerate(collection):
        units.setdefault(unit_of(nodeid), []).append(index)
    for name in longest_first({name: len(unit) for name, unit in units.items()}):
        yield units[name]
