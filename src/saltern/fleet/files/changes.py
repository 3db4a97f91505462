"""Changes between two manifests: for agents that have the older one, and for people who compare.

A change is not trusted: its result must have the requested digest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from saltern.fleet.files.manifest import MAX_LAYERS, BadManifest, Entry, Manifest, check, make_manifest

Number = Annotated[int, Meta(ge=0, lt=MAX_LAYERS)]


class Change(Struct, frozen=True, kw_only=True):
    """The entries to set and to remove, each with the number of its layer."""

    v: Annotated[int, Meta(ge=1, le=1)] = 1
    layers: Annotated[int, Meta(ge=0, le=MAX_LAYERS)]
    set: list[tuple[Number, Entry]] = []
    removed: list[tuple[Number, str]] = []


class Difference(Struct, frozen=True):
    """One path that differs: ``before`` and ``after`` are what an agent sees there."""

    path: str
    before: Entry | None
    after: Entry | None

    @property
    def word(self) -> str:
        return "added" if self.before is None else "removed" if self.after is None else "changed"


_DECODER = msgspec.json.Decoder(Change)


def change_between(before: Manifest, after: Manifest) -> Change:
    old = {(number, entry.path): entry for number, entry in _number_entries(before)}
    new = {(number, entry.path): entry for number, entry in _number_entries(after)}
    return Change(
        layers=len(after.layers),
        set=[(key[0], entry) for key, entry in new.items() if old.get(key) != entry],
        removed=[key for key in old if key not in new and key[0] < len(after.layers)],
    )


def _number_entries(manifest: Manifest) -> Iterator[tuple[int, Entry]]:
    return ((number, entry) for number, layer in enumerate(manifest.layers) for entry in layer)


def decode_change(data: bytes) -> Change:
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError) as problem:
        raise BadManifest(f"it is not a change of a manifest: {str(problem)[:200]}") from None


def apply_change(before: Manifest, change: Change) -> Manifest:
    """The manifest after the change, validated; the caller must compare its digest."""
    old = (before.layers + [[]] * change.layers)[: change.layers]
    layers = [{entry.path: entry for entry in layer} for layer in old]
    try:
        for number, path in change.removed:
            del layers[number][path]
        for number, entry in change.set:
            layers[number][entry.path] = entry
    except (IndexError, KeyError):
        raise BadManifest("the change is not one of this manifest") from None
    after = make_manifest(before.environment, (layer.values() for layer in layers))
    check(after)
    return after


def differences(before: Manifest | None, after: Manifest | None) -> list[Difference]:
    """The differences for an agent, by path: where several roots have a path, the first counts."""
    old, new = _entries_by_path(before), _entries_by_path(after)
    return [
        Difference(path, old.get(path), new.get(path))
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path)
    ]


def _entries_by_path(manifest: Manifest | None) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for entry in manifest.entries() if manifest else ():
        found.setdefault(entry.path, entry)
    return found
