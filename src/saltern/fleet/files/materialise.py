"""Makes the directory of a tree from its manifests, with a directory for each root of an environment.

A file in the cache is a hard link to its content. For a missing one, there is a link to where its content
will be: a reader of the tree (``sources/published_tree.py``) asks the agent for it first. ``tree.json`` lists
the directories of an environment, and the links of the tree.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import quote

import msgspec

from saltern.fleet.files.cache import Cache, new_tree
from saltern.fleet.files.manifest import DIRECTORY, FILE, LINK, Entry, Manifest, is_inner_link
from saltern.fleet.files.pieces import digest_of

HELD = "held"  # hard links to contents that were fetched after the tree was made


def root_name(environment: str, layer: int) -> str:
    """The directory of a root: the environment's name, and a number from the second root on."""
    name = quote(environment, safe="@+").replace(".", "%2E")
    if len(name) > 200:
        name = f"%{digest_of(environment.encode())}"
    return f"{name}.{layer}" if layer else name


def make_tree(cache: Cache, digest: str, manifests: Mapping[str, Manifest]) -> str:
    """Make the tree and give it its name; return its directory. All needed contents must be in the cache."""
    with new_tree(cache) as place:
        for name in (HELD, "roots"):
            os.mkdir(os.path.join(place, name), 0o700)
        for environment, manifest in manifests.items():
            for number, layer in enumerate(manifest.layers):
                root = os.path.join(place, "roots", root_name(environment, number))
                os.mkdir(root, 0o700)
                for entry in layer:
                    _MAKERS[entry.kind](cache, root, entry)
        with open(os.path.join(place, "tree.json"), "xb") as file:
            file.write(msgspec.json.encode(_description(cache, digest, manifests)))
        cache.trees.accept(place, digest)
    return cache.trees.path(digest)


def _make_directory(_cache: Cache, root: str, entry: Entry) -> None:
    os.mkdir(os.path.join(root, entry.path), 0o700)


def _make_file(cache: Cache, root: str, entry: Entry) -> None:
    source, path = cache.contents.path(entry.digest, entry.mode), os.path.join(root, entry.path)
    try:
        os.link(source, path)
    except OSError as problem:
        if problem.errno not in (errno.ENOENT, errno.EMLINK):
            raise
        os.symlink(source, path)


def _make_link(_cache: Cache, root: str, entry: Entry) -> None:
    if is_inner_link(entry.path, entry.link):
        os.symlink(entry.link, os.path.join(root, entry.path))


_MAKERS = {DIRECTORY: _make_directory, FILE: _make_file, LINK: _make_link}


def layers_of(manifests: Mapping[str, Manifest]) -> dict[str, dict[str, Entry]]:
    """The entries of each root by their paths, by the name of its directory."""
    return {
        root_name(environment, number): {entry.path: entry for entry in layer}
        for environment, manifest in manifests.items()
        for number, layer in enumerate(manifest.layers)
    }


def hold(cache: Cache, tree: str, entry: Entry) -> None:
    """Keep a content that was fetched after the tree was made as long as the tree."""
    source = cache.contents.path(entry.digest, entry.mode)
    held = os.path.join(cache.trees.path(tree), HELD, os.path.basename(source))
    with suppress(FileExistsError):
        os.link(source, held)


def _description(cache: Cache, digest: str, manifests: Mapping[str, Manifest]) -> dict[str, object]:
    return {
        "digest": digest,
        "objects": os.path.join(cache.directory, "objects"),
        "roots": {
            environment: [root_name(environment, number) for number in range(len(manifest.layers))]
            for environment, manifest in manifests.items()
        },
        "links": {
            root_name(environment, number): {entry.path: entry.link for entry in layer if entry.link}
            for environment, manifest in manifests.items()
            for number, layer in enumerate(manifest.layers)
        },
    }
