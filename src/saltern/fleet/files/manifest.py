"""Manifests: the contents of an environment, and the index of all environments, which a job names.

An environment has layers, one for each of its roots, in their order: for each path the first layer that has
it wins. The canonical form is JSON with entries sorted by path; a manifest's digest is that of these bytes.
So two controllers with equal roots publish equal manifests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from posixpath import normpath
from typing import Annotated, Final, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from saltern.fleet.files.pieces import MAX_CONTENT, digest_of
from saltern.language.unicode import is_unicode

MAX_MANIFEST = 64 * 1024 * 1024
MAX_ENTRIES = 400_000
MAX_LAYERS = 100
MAX_ENVIRONMENTS = 1000
MAX_PATH = 4096
MAX_NAME = 255
MODES = 0o7777

Digest = Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?$")]
FILE: Final = "f"
DIRECTORY: Final = "d"
LINK: Final = "l"


class BadManifest(Exception):
    """Data that is not a manifest, or not one that is safe to use; the message says why."""


class Entry(Struct, frozen=True, array_like=True):
    """One path of a layer: a file, a directory or a link.

    ``link`` is the text of a link, as written. A link out of its root is published as its target: a file or
    a directory that has a ``link``.
    """

    path: str
    kind: Literal["f", "d", "l"]
    mode: Annotated[int, Meta(ge=0, le=MODES)] = 0
    size: Annotated[int, Meta(ge=0, le=MAX_CONTENT)] = 0
    digest: Digest = ""
    link: str = ""


class Manifest(Struct, frozen=True, kw_only=True):
    """The files of one environment."""

    v: Annotated[int, Meta(ge=1, le=1)] = 1
    environment: Annotated[str, Meta(min_length=1, max_length=255)]
    layers: list[list[Entry]]

    def entries(self) -> Iterator[Entry]:
        for layer in self.layers:
            yield from layer


class Index(Struct, frozen=True, kw_only=True):
    """The manifest of each environment, by digest: all that a job can see."""

    v: Annotated[int, Meta(ge=1, le=1)] = 1
    environments: dict[str, Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]]


T = TypeVar("T", Manifest, Index)
_ENCODER = msgspec.json.Encoder(order="sorted")
_MANIFEST = msgspec.json.Decoder(Manifest)
_INDEX = msgspec.json.Decoder(Index)


def make_manifest(environment: str, layers: Iterable[Iterable[Entry]]) -> Manifest:
    """A manifest in canonical order."""
    ordered = [sorted(layer, key=lambda one: one.path) for layer in layers]
    return Manifest(environment=environment, layers=ordered)


def make_index(manifests: Mapping[str, str]) -> Index:
    return Index(environments=dict(sorted(manifests.items())))


def encode(one: Struct) -> bytes:
    """The canonical form."""
    return _ENCODER.encode(one)


def tree_digest(manifests: Mapping[str, str]) -> str:
    """The digest of the index of these manifests, which a job names."""
    return digest_of(encode(make_index(manifests)))


def decode_index(data: bytes) -> Index:
    """The index in these bytes; ``BadManifest`` for anything else."""
    index = _decode(_INDEX, data)
    if len(index.environments) > MAX_ENVIRONMENTS or not all(index.environments):
        raise BadManifest("the index has too many environments, or one without a name")
    return index


def decode_manifest(data: bytes) -> Manifest:
    """The manifest in these bytes, checked path by path; ``BadManifest`` for anything else."""
    if len(data) > MAX_MANIFEST:
        raise BadManifest(f"the manifest has {len(data)} bytes, and {MAX_MANIFEST} are allowed")
    manifest = _decode(_MANIFEST, data)
    check(manifest)
    return manifest


def _decode(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError) as problem:
        raise BadManifest(f"it is not a manifest: {str(problem)[:200]}") from None


def check(manifest: Manifest) -> None:
    """Raise ``BadManifest`` for one that could harm the machine that writes its files."""
    if len(manifest.layers) > MAX_LAYERS:
        raise BadManifest(f"the manifest has {len(manifest.layers)} roots, and {MAX_LAYERS} are allowed")
    if (count := sum(map(len, manifest.layers))) > MAX_ENTRIES:
        raise BadManifest(f"the manifest has {count} entries, and {MAX_ENTRIES} are allowed")
    for layer in manifest.layers:
        _check_layer(layer)


def _check_layer(layer: Sequence[Entry]) -> None:
    """Check that paths are sorted and unique, and that nothing is below a path that is not a directory."""
    if any(one.path >= other.path for one, other in pairwise(layer)):
        raise BadManifest("the entries are not in order, or a path is there twice")
    kinds = {entry.path: entry.kind for entry in layer}
    for entry in layer:
        if problem := _path_problem(entry.path) or _content_problem(entry):
            raise BadManifest(f"the entry {entry.path[:200]!r} {problem}")
        parent = entry.path.rpartition("/")[0]
        if parent and kinds.get(parent) != DIRECTORY:
            raise BadManifest(f"the entry {entry.path[:200]!r} is not in a directory of the manifest")


def _path_problem(path: str) -> str:
    """Why a path cannot be written below a root; empty if it can."""
    names = path.split("/")
    if any(name in ("", ".", "..") for name in names):
        return "has a path that is absolute, or not plain"
    if "\0" in path or not is_unicode(path):
        return "has a path that no file can have"
    if len(path.encode()) > MAX_PATH or any(len(name.encode()) > MAX_NAME for name in names):
        return "has a path that is too long"
    return ""


def _content_problem(entry: Entry) -> str:
    if (entry.kind == FILE) != bool(entry.digest):
        return "has a digest but is not a file, or is a file without one"
    if entry.kind != FILE and entry.size:
        return "has a size but is not a file"
    if entry.kind == LINK and not entry.link:
        return "is a link to nothing"
    if "\0" in entry.link or len(entry.link) > MAX_PATH or not is_unicode(entry.link):
        return "has a link that no file can have"
    return ""


def is_inner_link(path: str, link: str) -> bool:
    """True if a link at this path can be made unchanged, and cannot lead out of its root.

    ``..`` may only come first: after a name it would be resolved after the links of that name. So all links
    of a root are safe together, because each begins in a real directory of the root.
    """
    if not link or link.startswith("/") or normpath(link) != link:
        return False
    ups = link.split("/").count("..")
    return ups <= path.count("/")
