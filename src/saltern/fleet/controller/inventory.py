"""The systems as targets see them: ids and facts, read from the database when a target is resolved.

Facts are kept as the bytes from the database, with an index of those that targets use.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import msgspec

from saltern.fleet.controller.calls import Calls
from saltern.fleet.controller.fact_index import MISSING, FactIndex
from saltern.fleet.controller.selection import select_systems
from saltern.fleet.controller.ssh.board import SshBoard
from saltern.fleet.store.database import Connection
from saltern.fleet.store.facts import Census, census, fact_digests, facts_of
from saltern.fleet.store.groups import groups
from saltern.fleet.store.ssh_systems import SshSystem, ssh_systems
from saltern.targeting.match import Subject

PillarOf = Callable[[str], Mapping[str, object]]


class LazyGrains(Mapping[str, object]):
    """Grains that are decoded on first use."""

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


# Data already read for one page, which makes several queries about one moment; None elsewhere.
SEEN: ContextVar[set[int] | None] = ContextVar("seen", default=None)
FEW = 500  # systems whose census costs less than another thread
DIVIDING = (
    "reboot_due", "role", "roles", "site", "datacenter", "environment", "rack", "cluster", "os", "osfinger",
    "osrelease", "kernelrelease", "virtual",
)  # fmt: skip
BRIEF = (*DIVIDING, "booted_at")  # what lists show of a system
# Reads these alone; a system has a hundred others.
_BRIEF = msgspec.defstruct("Brief", [(name, Any, None) for name in BRIEF], omit_defaults=True)
_DECODER = msgspec.json.Decoder(_BRIEF)


def brief_facts(grains: bytes) -> dict[str, str]:
    """Of all facts those that lists show, as texts."""
    found = msgspec.to_builtins(_DECODER.decode(grains))
    return {name: text for name, value in found.items() if (text := brief_text(value))}


def brief_text(value: object) -> str:
    """A fact as one short text; empty if it is none of those that people divide systems by."""
    if isinstance(value, str):
        return value[:100]
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return str(value)[:100] if isinstance(value, (str, int, float)) else ""


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
        self._census: Census = ("", "", "", "")
        self._read_at = -math.inf
        self._index = FactIndex({})
        self._everyone: frozenset[str] = frozenset()
        self._counted: dict[str, dict[str, frozenset[str]]] = {}
        self.groups: dict[str, str] = {}
        self.nodegroups = dict(nodegroups or {})

    async def refresh(self, within: float = 0.0) -> None:
        """Read what has changed, unless that was done within this many seconds."""
        seen = SEEN.get()
        if (within and time.monotonic() - self._read_at < within) or (seen is not None and id(self) in seen):
            return
        begun = time.monotonic()
        query = self._calls.look if len(self._facts) <= FEW else self._calls.read
        read = await query(self._read, self._census, self._facts)
        self._read_at = begun
        if seen is not None:
            seen.add(id(self))
        self._census, facts, groups, self._ssh.systems = read
        if facts is not self._facts:
            self._facts, self._counted = facts, {}
            self._index = self._index.after(facts)
            self._everyone = frozenset(facts)
        self.groups = {**self._roster(), **groups}

    @staticmethod
    def _read(
        connection: Connection, was: Census, known: dict[str, tuple[str, bytes]]
    ) -> tuple[Census, dict[str, tuple[str, bytes]], dict[str, str], dict[str, SshSystem]]:
        now = census(connection)
        facts = known if now == was else _changed_facts(connection, known)
        return now, facts, groups(connection), ssh_systems(connection)

    def __len__(self) -> int:
        return len(self._facts)

    @property
    def ids(self) -> list[str]:
        return list(self._facts)

    def select(self, target: str, among: Collection[str] | None = None) -> list[str]:
        """The systems that an expanded target means, of ``among``, by id. May raise ``BadTarget``."""
        found = self.select_set(target, among)
        return list(self._facts) if len(found) == len(self._facts) else sorted(found)

    def select_set(self, target: str, among: Collection[str] | None = None) -> frozenset[str]:
        """The same without an order."""
        return select_systems(target, self._known_ids(among), self._index, self.subject)

    def _known_ids(self, among: Collection[str] | None) -> frozenset[str]:
        """Those of ``among`` that are known; if that is all of them, the very set of all."""
        everyone = self._everyone
        if among is None or among is everyone:
            return everyone
        return everyone if frozenset(among) == everyone else everyone.intersection(among)

    def dividing_facts(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """The facts by which people divide systems: each value as a text, and the systems that have it."""
        if not self._counted:
            self._counted = {name: _by_text(self._index, name) for name in DIVIDING}
        return self._counted

    def fact_groups(
        self, systems: Collection[str], names: Collection[str]
    ) -> list[tuple[dict[str, object], frozenset[str]]]:
        """Systems that are equal in some facts together, with those facts; what one has not is left out."""
        whole = self._known_ids(systems)
        found: list[tuple[dict[str, object], frozenset[str]]] = [({}, whole)]
        for name in names:
            split = []
            for value, members in self._index.members(name).items():
                fact = {} if value == MISSING else {name: msgspec.json.decode(value)}
                for facts, own in found:
                    mine = members if own is self._everyone else own & members
                    if mine:
                        all_ = len(mine) == len(self._everyone)
                        split.append(({**facts, **fact}, self._everyone if all_ else mine))
            found = split
        return found

    def grain(self, id_: str, name: str) -> str:
        """A grain of a system as a text; empty if it has none."""
        found = LazyGrains(self._facts[id_][1]).get(name) if id_ in self._facts else None
        return "" if found is None else str(found)[:200]

    def brief(self, id_: str) -> dict[str, str]:
        """The facts that lists show, of one system."""
        return brief_facts(self._facts.get(id_, ("", b"{}"))[1])

    def grain_names(self) -> set[str]:
        """The names of all facts that some system has."""
        return {name for id_ in self._facts for name in LazyGrains(self._facts[id_][1])}

    def subject(self, id_: str) -> Subject:
        grains = LazyGrains(self._facts[id_][1])
        return Subject(id=id_, grains=grains, nodegroups=self.nodegroups)


def _changed_facts(
    connection: Connection, known: dict[str, tuple[str, bytes]]
) -> dict[str, tuple[str, bytes]]:
    """The facts of all accepted systems; only unknown ones are read."""
    digests = fact_digests(connection)
    changed = [id_ for id_, digest in digests.items() if digest and known.get(id_, ("",))[0] != digest]
    new = facts_of(connection, changed)
    return {id_: new.get(id_) or known.get(id_) or ("", b"{}") for id_ in digests}


def _by_text(index: FactIndex, name: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for value, members in index.members(name).items():
        text = "" if value == MISSING else brief_text(msgspec.json.decode(value))
        if text:
            found[text] = found.get(text, frozenset()) | members
    return found
