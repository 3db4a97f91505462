"""Trees of files on a host: only missing contents are sent, by digest, and are cached for the next run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from saltern.fleet.files.cache import Cache
from saltern.fleet.files.manifest import FILE, Entry, Manifest, decode_index, decode_manifest
from saltern.fleet.files.materialise import hold, layers_of, make_tree
from saltern.fleet.files.options import tree_options
from saltern.fleet.files.prefetch import is_needed_first
from saltern.fleet.files.problems import NotFetched
from saltern.fleet.ssh.remote.caller import Caller

LEFT = 3600.0  # seconds; other sessions may write to the same cache
AHEAD = 8 * 1024 * 1024  # total bytes up to which all files are sent at once, whether needed or not
Asker = Callable[[dict[str, Any]], Iterator[bytes]]


class Trees:
    """The cache of this host, and the caller that has what it lacks."""

    def __init__(self, directory: str, caller: Caller) -> None:
        self._cache = Cache(directory, left=LEFT)
        self._caller = caller

    def options(self, tree: str, job: str, socket: str) -> dict[str, Any]:
        """Make a tree ready, and return the options with which a worker reads it."""
        self._cache.trees.pin(job, tree)
        if not self._cache.trees.has(tree):
            manifests = self._manifests(tree)
            every = list(chain.from_iterable(one.entries() for one in manifests.values()))
            self._fetch(_first(every))
            make_tree(self._cache, tree, manifests)
            self._cache.trim()
        self._cache.trees.use(tree)
        return tree_options(self._cache.trees.path(tree), socket, job)

    def release(self, job: str) -> None:
        self._cache.trees.unpin(job)

    def _manifests(self, tree: str) -> dict[str, Manifest]:
        """The manifests, from the cache or from the caller, in one request. The cache checks digests."""
        index = self._cache.manifests.read(tree)
        if not index or not all(map(self._cache.manifests.read, decode_index(index).environments.values())):
            self._caller.send({"is": "need", "manifests": tree})
            index = self._receive_manifest(tree)
            for digest in dict.fromkeys(decode_index(index).environments.values()):
                self._receive_manifest(digest)
        return self._known_manifests(tree)

    def _receive_manifest(self, digest: str) -> bytes:
        _, body = self._caller.receive()
        self._cache.manifests.write(digest, body)
        return body

    def _fetch(self, entries: Iterable[Entry]) -> None:
        """Have the caller send the contents that are not here, one after the other."""
        wanted = {(one.digest, one.mode): one for one in entries if one.kind == FILE}
        lacking = [one for key, one in wanted.items() if not self._cache.contents.has(*key)]
        if not lacking:
            return
        self._caller.send({"is": "need", "contents": [one.digest for one in lacking]})
        for entry in lacking:
            with self._cache.contents.writer(entry.digest, entry.mode) as out:
                more = True
                while more:
                    head, body = self._caller.receive()
                    out.write(body)
                    more = bool(head.get("more"))

    def fetch(self, tree: str, path: str, ask: Asker) -> dict[str, Any]:
        """Fetch one file that a running worker requests; return why it cannot be fetched, or empty."""
        root, _, name = path.partition("/")
        entry = layers_of(self._known_manifests(tree)).get(root, {}).get(name)
        if entry is None or entry.kind != FILE:
            return {"problem": f"the tree has no file {path!r}"}
        try:
            if not self._cache.contents.has(entry.digest, entry.mode):
                with self._cache.contents.writer(entry.digest, entry.mode) as out:
                    for part in ask({"ask": "content", "digest": entry.digest}):
                        out.write(part)
            hold(self._cache, tree, entry)
        except (NotFetched, OSError) as problem:
            return {"problem": str(problem)}
        return {}

    def _known_manifests(self, tree: str) -> dict[str, Manifest]:
        index = decode_index(self._cache.manifests.read(tree) or b"")
        read = self._cache.manifests.read
        return {env: decode_manifest(read(digest) or b"") for env, digest in index.environments.items()}


def _first(entries: list[Entry]) -> list[Entry]:
    """All files of a small tree; of a large one those needed to compile."""
    whole = sum(one.size for one in entries if one.kind == FILE) <= AHEAD
    return entries if whole else [one for one in entries if is_needed_first(one)]
