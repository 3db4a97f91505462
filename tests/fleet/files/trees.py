"""Random trees on disk, with everything a root can hold: files, directories, links in and out, loops."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from hypothesis import strategies as st
from msgspec import Struct

NAMES = ("a", "b.sls", "c d", "ü.txt", "init.sls", "x.jinja", "_modules", "deep")
LINKS = (
    "a",
    "../a",
    "b.sls",
    "deep/a",
    "../deep",
    ".",
    "..",
    "missing",
    "/etc/hostname",
    "deep/../b.sls",
    "a/",
    "@out",
    "@out/f",
    "@other",
)


class Item(Struct, frozen=True):
    path: str
    kind: str
    data: bytes = b""
    mode: int = 0o644


_paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
items = st.lists(
    st.one_of(
        st.builds(
            Item,
            _paths,
            st.just("file"),
            st.binary(max_size=40),
            st.sampled_from((0o644, 0o600, 0o755, 0o4755)),
        ),
        st.builds(Item, _paths, st.just("directory")),
        st.builds(
            Item,
            _paths.filter(lambda path: not path.endswith("deep")),
            st.just("link"),
            st.sampled_from(LINKS).map(str.encode),
        ),
    ),
    max_size=12,
)
layers = st.lists(items, min_size=1, max_size=3)


def write(root: Path, wanted: list[Item], out: Path, other: Path) -> None:
    """Write what can be written; what is in the way of another item is left out."""
    root.mkdir(parents=True, exist_ok=True)
    for item in wanted:
        path = root / item.path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not os.path.realpath(path.parent).startswith(str(root)):
                continue
            if item.kind == "file":
                with path.open("xb") as file:
                    file.write(item.data)
                path.chmod(item.mode)
            elif item.kind == "directory":
                path.mkdir()
            else:
                text = item.data.decode().replace("@out", str(out)).replace("@other", str(other))
                path.symlink_to(text)
                if is_loop(path):  # an error where it is, and not there for an agent
                    path.unlink()
        except OSError:
            continue


def is_loop(path: Path) -> bool:
    """True for a link that leads to itself."""
    try:
        path.stat()
    except OSError as problem:
        return problem.errno == errno.ELOOP
    return False


def write_outside(place: Path) -> Path:
    """A directory that links lead out to, with a loop and a link of its own."""
    place.mkdir(exist_ok=True)
    (place / "f").write_text("outside\n")
    (place / "sub").mkdir(exist_ok=True)
    (place / "sub" / "g").write_text("deeper\n")
    for name, text in (("loop", "."), ("sub/up", "../f"), ("gone", "nothing")):
        if not (place / name).is_symlink():
            (place / name).symlink_to(text)
    return place
