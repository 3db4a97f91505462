"""The systems as targets see them: ids and facts, read from the database when a target is resolved.

Facts are kept as the bytes that the database has, and decoded for the targets that ask for grains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.ssh.board import SshBoard
from saltern.fleet.store.database import Connection
from saltern.fleet.store.facts import fact_digests, facts_of
from saltern.fleet.store.groups import groups
from saltern.fleet.store.ssh_systems import SshSystem, ssh_systems
from saltern.targeting.match import Subject

PillarOf = Callable[[str], Mapping[str, object]]


class LazyGrains(Mapping[str, object]):
    """Grains that are decoded when the first of them is asked for."""

    __slots__ = ("_data", "_decoded")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._decoded: dict[str, Any] | None = None

    def _all(self) -> dict[str, Any]:
        if self._decoded is None:
            self._decoded = msgspec.json.decode(self._data, type=dict[str, Any])
        return self._decoded

    def __getitem__(self, key: str) -> object:
        return self._all()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


BRIEF = (
    "role", "roles", "site", "datacenter", "environment", "rack", "cluster", "os", "osfinger", "osrelease",
    "kernelrelease", "virtual",
)  # fmt: skip
_DECODER = msgspec.json.Decoder(dict[str, Any])


def brief_facts(grains: Mapping[str, Any]) -> dict[str, str]:
    """Of all facts those by which people divide systems, as texts."""
    found = {}
    for name in BRIEF:
        value = grains.get(name)
        if isinstance(value, list):
            value = ", ".join(map(str, value))
        if isinstance(value, (str, int, float)) and str(value):
            found[name] = str(value)[:100]
    return found


class Inventory:
    """All accepted systems. ``refresh`` reads only the facts that have changed since."""

    def __init__(
        self,
        calls: Calls,
        nodegroups: Mapping[str, object] | None = None,
        *,
        ssh: SshBoard | None = None,
        roster: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        """``roster``: the groups of the roster. A group of the fleet with the same name wins."""
        self._calls = calls
        self._ssh = ssh or SshBoard()
        self._roster = roster
        self._facts: dict[str, tuple[str, bytes]] = {}
        self._brief: dict[str, tuple[str, Mapping[str, str]]] = {}
        self.groups: dict[str, str] = {}
        self.nodegroups = dict(nodegroups or {})

    async def refresh(self) -> None:
        self._facts, groups, self._ssh.systems = await self._calls.read(self._read, self._facts)
        self.groups = {**self._roster(), **groups}

    @staticmethod
    def _read(
        connection: Connection, known: dict[str, tuple[str, bytes]]
    ) -> tuple[dict[str, tuple[str, bytes]], dict[str, str], dict[str, SshSystem]]:
        digests = fact_digests(connection)
        changed = [id_ for id_, digest in digests.items() if digest and known.get(id_, ("",))[0] != digest]
        new = facts_of(connection, changed)
        facts = {id_: new.get(id_) or known.get(id_) or ("", b"{}") for id_ in digests}
        return facts, groups(connection), ssh_systems(connection)

    @property
    def ids(self) -> list[str]:
        return list(self._facts)

    def grain(self, id_: str, name: str) -> str:
        """A grain of a system as a text; empty if it has none."""
        found = LazyGrains(self._facts[id_][1]).get(name) if id_ in self._facts else None
        return "" if found is None else str(found)[:200]

    def brief(self, id_: str) -> Mapping[str, str]:
        """The facts by which people divide systems; kept, as long as its facts are the same."""
        digest, data = self._facts.get(id_, ("", b"{}"))
        kept = self._brief.get(id_)
        if kept is None or kept[0] != digest:
            kept = self._brief[id_] = (digest, brief_facts(_DECODER.decode(data)))
        return kept[1]

    def grain_names(self) -> set[str]:
        """The names of all facts that some system has."""
        return {name for id_ in self._facts for name in LazyGrains(self._facts[id_][1])}

    def subject(self, id_: str) -> Subject:
        grains = LazyGrains(self._facts[id_][1])
        return Subject(id=id_, grains=grains, nodegroups=self.nodegroups)
