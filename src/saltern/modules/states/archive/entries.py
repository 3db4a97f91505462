"""What an archive holds, and whether it may be unpacked at all."""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec import Struct

from saltern.modules.context import Context
from saltern.modules.states.file.answers import Refusal

MOST_ENTRIES = 1_000_000
MOST_BYTES = 32 << 30


class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """One member. ``name`` is where it lands; ``member`` is what the archive calls it."""

    name: str
    kind: str  # file, directory, link, hardlink; any other cannot be unpacked
    member: str = ""
    size: int = 0
    target: str = ""


class Limits(Struct, frozen=True):
    """How much an archive may hold: a small file can hold more than any disk."""

    entries: int = MOST_ENTRIES
    size: int = MOST_BYTES


def limits_of(ctx: Context) -> Limits:
    """``archive_max_entries`` and ``archive_max_size`` of the configuration, or the usual."""
    given = [ctx.opts.get(name) for name in ("archive_max_entries", "archive_max_size")]
    usual = (MOST_ENTRIES, MOST_BYTES)
    return Limits(
        *(one if isinstance(one, int) and one > 0 else most for one, most in zip(given, usual, strict=True))
    )


class Meter:
    """Counts while an archive is read, so that a bomb is noticed before it is unpacked."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.entries = 0
        self.size = 0

    def add(self, size: int) -> None:
        self.entries += 1
        self.size += size
        if self.entries > self._limits.entries:
            raise Refusal(
                f"the archive has more than {self._limits.entries} entries, which looks like an attack; "
                "raise archive_max_entries if it is meant"
            )
        if self.size > self._limits.size:
            raise Refusal(
                f"the archive unpacks to more than {self._limits.size} bytes, which looks like an attack; "
                "raise archive_max_size if it is meant"
            )


def tidy(name: str) -> str:
    """The name without ``./`` before and ``/`` behind it. What is hostile in it stays."""
    while name.startswith("./"):
        name = name[2:].lstrip("/")
    return "" if name == "." else name.rstrip("/") or name


def check(entries: Iterable[Entry]) -> None:
    """Raise ``Refusal`` if any entry would land, or lead, outside of the directory it is unpacked into."""
    links: set[str] = set()
    for entry in entries:
        why = _hostile(entry, links)
        if why:
            raise Refusal(f"the archive is refused: its entry {entry.member or entry.name!r} {why}")
        if entry.kind == "link":
            links.add(entry.name)


def _hostile(entry: Entry, links: set[str]) -> str:
    name = entry.name
    if "\0" in name or "\0" in entry.target:
        return "has a NUL byte in its name"
    if name.startswith("/"):
        return "has an absolute name"
    parts = name.split("/")
    if ".." in parts:
        return "climbs out with '..'"
    if links and any("/".join(parts[:depth]) in links for depth in range(1, len(parts))):
        return "lies behind a link of the same archive"
    return (KINDS.get(entry.kind) or _special)(entry)


def _plain(_: Entry) -> str:
    return ""


def _special(entry: Entry) -> str:
    return f"is a {entry.kind}, neither a file nor a directory nor a link"


def _link(entry: Entry) -> str:
    landing = os.path.normpath(os.path.join(os.path.dirname(entry.name), entry.target))
    return _out(entry, landing)


def _hard_link(entry: Entry) -> str:
    return _out(entry, os.path.normpath(entry.target))


def _out(entry: Entry, landing: str) -> str:
    if os.path.isabs(entry.target) or landing == ".." or landing.startswith("../"):
        return f"is a link that leads out, to {entry.target!r}"
    return ""


KINDS = {"file": _plain, "directory": _plain, "link": _link, "hardlink": _hard_link}


def toplevel(entries: Iterable[Entry]) -> tuple[list[str], list[str]]:
    """The directories and the other things that lie at the top."""
    directories: dict[str, None] = {}
    others: dict[str, None] = {}
    for entry in entries:
        first, deeper, _ = entry.name.partition("/")
        if deeper or entry.kind == "directory":
            directories[first] = None
        elif first:
            others[first] = None
    return sorted(filter(None, directories)), sorted(others)


def inside(into: str, name: str) -> str:
    """The path of ``name`` in ``into``. Raises if a link that is there already leads elsewhere."""
    path = os.path.join(into, name)
    root = os.path.realpath(into)
    parent = os.path.realpath(os.path.dirname(path))
    if parent != root and not parent.startswith(root.rstrip("/") + "/"):
        raise Refusal(f"{path} would land outside of {into}, since a link there leads to {parent}")
    return path


def make_room(path: str) -> None:
    """Nothing but a directory is in the way any more; a link is not followed, a running program not hurt."""
    try:
        os.unlink(path)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        pass
