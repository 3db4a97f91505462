"""The states that must run before a state because they have a ``prereq`` on it.

Owners that share a pattern become one step for all its matches, so that a thousand owners with a pattern
that matches a thousand states need two thousand edges, not a million.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from saltern.plan.plan import Plan


class Preparers:
    """Collects owners and their targets: chunks, or joins of rehearsals."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._single: dict[int, dict[int, None]] = {}  # target → owners, without duplicates
        self._many: dict[int, dict[int, None]] = {}  # join → owners, without duplicates

    def add(self, owner: int, on: int) -> None:
        known = self._many if on >= len(self._plan.chunks) else self._single
        known.setdefault(on, {})[owner] = None

    def settle(self, rendered: Collection[str]) -> None:
        """Give each target its owners in the order of declaration; targets with the same owners share a
        step.
        """
        opened = {name: at for at, name in enumerate(rendered)}
        chunks = self._plan.chunks
        ranks = [(opened.get(chunk.sls, 0), chunk.declared.order or 0) for chunk in chunks]
        steps: dict[tuple[int, ...], tuple[int, ...]] = {}
        for target, joins in self._targets().items():
            single = self._single.get(target, {})
            key = (*joins, -1, *single)
            if key not in steps:
                owners = dict.fromkeys(owner for join in joins for owner in self._many[join]) | single
                steps[key] = self._step(sorted(sorted(owners), key=ranks.__getitem__), shared=bool(joins))
            self._plan.preparers[target] = steps[key]

    def _targets(self) -> dict[int, list[int]]:
        """Target → its joins."""
        found: dict[int, list[int]] = {target: [] for target in self._single}
        for join in self._many:
            for target in self._plan.behind(join):
                found.setdefault(target, []).append(join)
        return found

    def _step(self, owners: Sequence[int], *, shared: bool) -> tuple[int, ...]:
        if not shared or len(owners) < 2:
            return tuple(owners)
        self._plan.joins.append(list(owners))
        return (len(self._plan.chunks) + len(self._plan.joins) - 1,)
