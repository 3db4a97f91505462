"""The files of this machine for hosts: scanned once for a command, sent by digest."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from saltern.fleet.files.conceal import Concealment, Marks, conceal, hidden_entries, hidden_files
from saltern.fleet.files.manifest import encode, make_index
from saltern.fleet.files.pieces import digest_of
from saltern.fleet.files.scan import Content, Scan, scan
from saltern.fleet.files.stat_cache import StatCache
from saltern.language.diagnostics import Diagnostic
from saltern.sources.stub import stub_text

PART = 1024 * 1024
MARKED = Concealment()  # files that are marked in their first line


class JobFiles(Protocol):
    """The files of a job, for a host that lacks some of them."""

    @property
    def digest(self) -> str: ...

    @property
    def roots(self) -> dict[str, list[str]]:
        """The names that users know for the directories of the files, for each environment."""
        ...

    async def manifest(self, digest: str) -> bytes:
        """The index or a manifest, by digest; empty if it is not of this tree."""
        ...

    async def has(self, digest: str) -> bool: ...

    def parts(self, digest: str) -> AsyncIterator[tuple[bytes, bool]]:
        """The content of a digest, part by part, and whether more follows."""
        ...


class LocalTree(Struct, frozen=True, kw_only=True):
    """The digest of a tree, its manifests by digest, and the location of each content.

    ``hidden`` files, by environment, are rendered on this machine; hosts get their ``stubs``, by digest.
    """

    digest: str
    manifests: dict[str, bytes]
    contents: dict[str, Content]
    roots: dict[str, list[str]]
    warnings: list[Diagnostic]
    stubs: dict[str, bytes] = {}
    hidden: dict[str, set[str]] = {}

    async def manifest(self, digest: str) -> bytes:
        return self.manifests.get(digest, b"")

    async def has(self, digest: str) -> bool:
        return digest in self.contents or digest in self.stubs

    async def parts(self, digest: str) -> AsyncIterator[tuple[bytes, bool]]:
        if digest in self.stubs:
            yield self.stubs[digest], False
            return
        content = self.contents[digest]
        with open(content.path, "rb") as file:
            data = file.read(PART)
            while True:
                following = file.read(PART) if len(data) == PART else b""
                yield data, bool(following)
                if not following:
                    return
                data = following


def local_tree(roots: Mapping[str, Sequence[str]], state: str) -> LocalTree:
    """Scan the roots of all environments. ``state`` is the file that remembers digests."""
    found = scan(roots, StatCache(state))
    hidden = hidden_entries(found, MARKED, Marks())
    if hidden:
        found = _conceal(found, hidden)
    encoded = {environment: encode(manifest) for environment, manifest in found.manifests.items()}
    digests = {environment: digest_of(data) for environment, data in encoded.items()}
    index = encode(make_index(digests))
    manifests = {digest_of(index): index, **{digests[name]: data for name, data in encoded.items()}}
    return LocalTree(
        digest=digest_of(index),
        manifests=manifests,
        contents=found.contents,
        roots={environment: [os.path.abspath(one) for one in some] for environment, some in roots.items()},
        warnings=found.warnings,
        stubs=found.stubs,
        hidden=hidden,
    )


def _conceal(found: Scan, hidden: Mapping[str, set[str]]) -> Scan:
    """The scan with stubs in place of files that are rendered here."""
    words: dict[str, str] = {}
    needed = hidden_files(found, hidden, MARKED, words)
    tokens = {one: hashlib.sha256(f"{one.digest} {one.words}".encode()).hexdigest()[:32] for one in needed}
    return conceal(found, hidden, words, {one: stub_text(token, one.words) for one, token in tokens.items()})
