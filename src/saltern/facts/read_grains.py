"""Grains that record which of them are read: a plan rests only on those."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from saltern.config.settings import Settings
from saltern.facts.grains import GROUPS, Grains, Group, given_grains

OF_THE_PROCESS = frozenset({"pid", "cwd"})  # grains that differ in each run


class ReadGrains(Grains):
    """All grains; ``reads`` has the names that were read, even of grains that this machine lacks."""

    __slots__ = ("reads",)

    def __init__(
        self,
        settings: Settings,
        static: Callable[[], Mapping[str, object]] = dict,
        groups: tuple[Group, ...] = GROUPS,
    ) -> None:
        self.reads: set[str] = set()
        super().__init__(settings, static, groups)
        self.reads.clear()

    def __getitem__(self, name: str) -> object:
        self.reads.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        if isinstance(name, str):
            self.reads.add(name)
        return super().__contains__(name)

    def full(self) -> ReadGrains:
        super().full()
        self.reads.update(dict.keys(self))
        return self

    @property
    def used(self) -> list[str]:
        """The names that were read, except grains that differ in each run."""
        return sorted(self.reads - OF_THE_PROCESS)


def read_grains(settings: Settings) -> ReadGrains:
    """The grains of this machine, with a record of reads."""
    return ReadGrains(settings, lambda: given_grains(settings))
