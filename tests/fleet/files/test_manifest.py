"""Manifests: one form, safe to write down, and changes between them."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.files import manifest as manifests
from saltern.fleet.files.changes import Change, apply_change, change_between, decode_change, differences
from saltern.fleet.files.manifest import (
    BadManifest,
    Entry,
    Manifest,
    decode_index,
    decode_manifest,
    encode,
    is_inner_link,
    make_manifest,
)

DIGEST = "ab" * 32
names = st.sampled_from(("a", "b", "c", "d.sls", "é"))
paths = st.lists(names, min_size=1, max_size=3).map("/".join)


def with_parents(wanted: dict[str, Entry]) -> list[Entry]:
    """A layer in which every path is in a directory."""
    layer: dict[str, Entry] = {}
    for path, entry in wanted.items():
        parents = [path[:at] for at, sign in enumerate(path) if sign == "/"]
        if path not in layer and all(layer.get(one, Entry(one, "d")).kind == "d" for one in parents):
            layer |= {one: Entry(one, "d", 0o755) for one in parents}
            layer[path] = entry
    return list(layer.values())


def entry(path: str, number: int) -> Entry:
    kinds = (
        Entry(path, "d", 0o755),
        Entry(path, "l", link="a"),
        Entry(path, "f", 0o644, number, f"{number:064x}"),
    )
    return kinds[min(number, 2)]


layers = st.dictionaries(paths, st.integers(0, 5), max_size=8).map(
    lambda found: with_parents({path: entry(path, number) for path, number in found.items()})
)
trees = st.lists(layers, min_size=1, max_size=3).map(lambda found: make_manifest("base", found))


@given(trees)
def test_a_manifest_is_read_as_it_was_written(one: Manifest) -> None:
    assert decode_manifest(encode(one)) == one


@given(trees, st.randoms())
def test_the_order_in_which_files_are_found_does_not_matter(one: Manifest, chance: Random) -> None:
    shuffled = [list(layer) for layer in one.layers]
    for layer in shuffled:
        chance.shuffle(layer)
    assert encode(make_manifest("base", shuffled)) == encode(one)


@given(trees, trees)
def test_a_change_leads_from_any_manifest_to_any_other(before: Manifest, after: Manifest) -> None:
    change = decode_change(encode(change_between(before, after)))
    assert apply_change(before, change) == after


@given(trees, trees)
def test_people_see_what_differs_for_agents(before: Manifest, after: Manifest) -> None:
    found = {one.path: one.word for one in differences(before, after)}
    seen: list[dict[str, Entry]] = [{}, {}]
    for number, one in enumerate((before, after)):
        for entry in one.entries():
            seen[number].setdefault(entry.path, entry)
    for path in seen[0].keys() | seen[1].keys():
        old, new = seen[0].get(path), seen[1].get(path)
        word = None if old == new else "added" if old is None else "removed" if new is None else "changed"
        assert found.get(path) == word


HOSTILE = {
    "absolute": [Entry("/etc/passwd", "f", digest=DIGEST)],
    "up": [Entry("..", "d"), Entry("../x", "f", digest=DIGEST)],
    "up inside": [Entry("a", "d"), Entry("a/..", "d"), Entry("a/../../x", "f", digest=DIGEST)],
    "dot": [Entry(".", "d")],
    "empty": [Entry("", "f", digest=DIGEST)],
    "double slash": [Entry("a", "d"), Entry("a//b", "f", digest=DIGEST)],
    "null": [Entry("a\0b", "f", digest=DIGEST)],
    "long name": [Entry("a" * 256, "f", digest=DIGEST)],
    "long path": [
        *(Entry("/".join(["a" * 200] * n), "d") for n in range(1, 21)),
        Entry("/".join(["a" * 200] * 21), "d"),
    ],
    "below a link": [Entry("a", "l", link="/etc"), Entry("a/passwd", "f", digest=DIGEST)],
    "below a file": [Entry("a", "f", digest=DIGEST), Entry("a/b", "f", digest=DIGEST)],
    "no parent": [Entry("a/b", "f", digest=DIGEST)],
    "twice": [Entry("a", "f", digest=DIGEST), Entry("a", "d")],
    "unsorted": [Entry("b", "d"), Entry("a", "d")],
    "file without digest": [Entry("a", "f")],
    "directory with digest": [Entry("a", "d", digest=DIGEST)],
    "link with null": [Entry("a", "l", link="b\0c")],
    "link to nothing": [Entry("a", "l")],
    "directory with a size": [Entry("a", "d", size=5)],
}


@pytest.mark.parametrize("layer", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_manifest_is_refused(layer: list[Entry]) -> None:
    with pytest.raises(BadManifest):
        decode_manifest(encode(Manifest(environment="base", layers=[layer])))


@pytest.mark.parametrize("layer", HOSTILE.values(), ids=HOSTILE)
def test_a_change_to_a_hostile_manifest_is_refused(layer: list[Entry]) -> None:
    change = Change(layers=1, set=[(0, one) for one in layer])
    if layer is not HOSTILE["unsorted"] and layer is not HOSTILE["twice"]:
        with pytest.raises(BadManifest):
            apply_change(Manifest(environment="base", layers=[[]]), change)


@pytest.mark.parametrize(
    "change",
    [
        Change(layers=1, set=[(1, Entry("a", "d"))]),
        Change(layers=1, removed=[(0, "not there")]),
        Change(layers=1, removed=[(5, "a")]),
    ],
)
def test_a_change_of_another_manifest_is_refused(change: Change) -> None:
    with pytest.raises(BadManifest):
        apply_change(Manifest(environment="base", layers=[[]]), change)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_garbage_is_refused(data: bytes) -> None:
    for read in (decode_manifest, decode_index, decode_change):
        with pytest.raises(BadManifest):
            read(data)


def test_counts_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifests, "MAX_ENTRIES", 10)
    many = [Entry(f"{number:03d}", "d") for number in range(11)]
    with pytest.raises(BadManifest, match="11 entries"):
        decode_manifest(encode(Manifest(environment="base", layers=[many])))
    monkeypatch.setattr(manifests, "MAX_LAYERS", 3)
    with pytest.raises(BadManifest, match="roots"):
        decode_manifest(encode(Manifest(environment="base", layers=[[]] * 4)))
    with pytest.raises(BadManifest):
        decode_manifest(b" " * (manifests.MAX_MANIFEST + 1))
    deep = b'{"environment":"base","layers":' + b"[" * 100_000
    with pytest.raises(BadManifest):
        decode_manifest(deep)
    with pytest.raises(BadManifest):
        decode_index(msgspec.json.encode({"environments": {str(n): DIGEST for n in range(2000)}}))


texts = st.lists(st.sampled_from(("..", ".", "a", "b", "c", "")), min_size=1, max_size=5).map("/".join)


@given(st.lists(st.tuples(paths, texts), min_size=1, max_size=6))
def test_links_that_are_made_never_lead_out_of_the_root(wanted: list[tuple[str, str]]) -> None:
    """However they are combined."""
    with TemporaryDirectory() as top:
        root = Path(top, "x", "y", "root")
        root.mkdir(parents=True)
        for path, text in wanted:
            full = root / path
            parent = str(full.parent)
            try:
                full.parent.mkdir(parents=True, exist_ok=True)
            except OSError:
                continue
            is_real = os.path.realpath(parent) == os.path.realpath(root) + parent.removeprefix(str(root))
            if is_real and is_inner_link(path, text) and not os.path.lexists(full):
                full.symlink_to(text)
        real = os.path.realpath(root)
        for folder, folders, files in os.walk(root):
            for name in (*folders, *files):
                there = os.path.realpath(os.path.join(folder, name))
                assert there == real or there.startswith(f"{real}/")
