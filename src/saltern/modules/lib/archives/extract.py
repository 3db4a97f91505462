"""The extractor for all formats: write the members of an archive below one directory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from saltern.modules.lib.archives.entries import Entry
from saltern.modules.lib.archives.judge import Judge, normal
from saltern.system.files import KEPT, Attributes
from saltern.system.rooted import Rooted

Blocks = Callable[[], Iterator[bytes]]


def extract(members: Iterable[tuple[Entry, Blocks]], tree: Rooted, owner: Attributes = KEPT) -> list[Entry]:
    """Write the members in order, each checked once more. ``owner`` owns all of them. Returns the names."""
    judge = Judge()
    done = []
    for entry, content in members:
        judge.look(entry)
        WRITERS[entry.kind](tree, entry, content, owner)
        done.append(entry)
    return done


def _attributes(entry: Entry, owner: Attributes) -> Attributes:
    return Attributes(
        entry.mode,
        entry.uid if owner.uid is None else owner.uid,
        entry.gid if owner.gid is None else owner.gid,
    )


def _directory(tree: Rooted, entry: Entry, _: Blocks, owner: Attributes) -> None:
    tree.directory(entry.name, _attributes(entry, owner), owner)


def _file(tree: Rooted, entry: Entry, content: Blocks, owner: Attributes) -> None:
    tree.file(entry.name, content(), _attributes(entry, owner), time=entry.time, above=owner)


def _link(tree: Rooted, entry: Entry, _: Blocks, owner: Attributes) -> None:
    tree.link(entry.name, entry.target, _attributes(entry, owner), owner)


def _hard_link(tree: Rooted, entry: Entry, _: Blocks, owner: Attributes) -> None:
    tree.hard_link(entry.name, normal(entry.target), owner)


WRITERS: dict[str, Callable[[Rooted, Entry, Blocks, Attributes], None]] = {
    "directory": _directory,
    "file": _file,
    "link": _link,
    "hardlink": _hard_link,
}
