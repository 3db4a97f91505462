"""``FactIndex``: which systems have which value of a fact, cached while facts are the same.

The index of a fact is made when the first target uses it, and from then on follows changes. An index is never
modified: new facts make a new one, so threads may read while it is replaced.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

import msgspec

Facts = Mapping[str, tuple[str, bytes]]  # system → digest, and its grains as JSON
Members = Mapping[bytes, frozenset[str]]  # a value as JSON → the systems that have it
MOST_FACTS = 60  # that are indexed at a time
MOST_CHANGES = 200  # changed systems up to which an index is updated instead of rebuilt
MISSING = b""


class FactIndex:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._members: dict[str, Members] = {}

    def members(self, name: str) -> Members:
        """The values of a fact, each with its systems; those without it are under ``MISSING``."""
        found = self._members.get(name)
        if found is None:
            groups: dict[bytes, list[str]] = {}
            for id_, (_, data) in self.facts.items():
                groups.setdefault(value_of(data, name), []).append(id_)
            found = {value: frozenset(ids) for value, ids in groups.items()}
            self._keep(name, found)
        return found

    def _keep(self, name: str, found: Members) -> None:
        for oldest in list(self._members)[: max(0, len(self._members) - MOST_FACTS + 1)]:
            self._members.pop(oldest, None)
        self._members[name] = found

    def after(self, facts: Facts) -> FactIndex:
        """The index for changed facts; unchanged parts are reused."""
        made = FactIndex(facts)
        changed = [id_ for id_, one in facts.items() if self.facts.get(id_) != one]
        changed += [id_ for id_ in self.facts if id_ not in facts]
        if len(changed) <= MOST_CHANGES:
            for name, members in list(self._members.items()):
                made._members[name] = _move_members(members, changed, self.facts, facts, name)
        return made


def _move_members(members: Members, changed: Collection[str], old: Facts, new: Facts, name: str) -> Members:
    found = dict(members)
    for id_ in changed:
        if id_ in old:
            value = value_of(old[id_][1], name)
            found[value] = found[value] - {id_}
            if not found[value]:
                del found[value]
        if id_ in new:
            value = value_of(new[id_][1], name)
            found[value] = found.get(value, frozenset()) | {id_}
    return found


def value_of(data: bytes, name: str) -> bytes:
    """One fact of a system as JSON; ``MISSING`` if it has none. Nothing else is decoded."""
    return bytes(_decoder(name).decode(data).value)


@lru_cache(maxsize=256)
def _decoder(name: str) -> msgspec.json.Decoder[Any]:
    field = ("value", msgspec.Raw, msgspec.Raw(MISSING))
    return msgspec.json.Decoder(msgspec.defstruct("OneFact", [field], rename={"value": name}))
