"""Decide whether an archive may be unpacked: normalise every name once, and check every link."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from saltern.modules.api.refused import Refused
from saltern.modules.lib.archives.entries import MOST_TEXT, Entry, too_much
from saltern.system.rooted import link_leads_out

LONGEST_PATH = 4096
LONGEST_PART = 255
MOST_PARTS = 256


def normal(name: str) -> str:
    """The name without ``.``, double and trailing slashes. A leading ``/`` and ``..`` stay, to be refused."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return ("/" if name.startswith("/") else "") + "/".join(parts)


class Judge:
    """Checks the entries of one archive in order, and raises ``Refused`` for the first hostile one."""

    def __init__(self) -> None:
        self._links: set[str] = set()
        self._files: set[str] = set()
        self._directories: set[str] = set()
        self._text = 0

    def look(self, entry: Entry) -> None:
        why = (
            _bad_name(entry) or self._misplacement(entry) or (CHECKS.get(entry.kind) or _special)(self, entry)
        )
        if why:
            raise Refused(f"the archive is refused: its entry {shorten(entry.member or entry.name)} {why}")
        if entry.kind == "link":
            self._links.add(entry.name)
        elif entry.kind != "directory":
            self._files.add(entry.name)

    def _misplacement(self, entry: Entry) -> str:
        """Why an entry is in the wrong place: below a link or file, or a file where others need a
        directory.
        """
        name = entry.name
        if entry.kind != "directory" and name in self._directories:
            return "is where the archive has a directory, too"
        above = name if entry.kind == "directory" else name.rpartition("/")[0]
        while above and above not in self._directories:
            if above in self._links:
                return "is below a link of the same archive"
            if above in self._files:
                return "is below a file of the same archive"
            self._remember(above)
            above = above.rpartition("/")[0]
        return ""

    def _remember(self, directory: str) -> None:
        self._directories.add(directory)
        self._text += len(directory)
        if self._text > MOST_TEXT:
            raise too_much(f"has names of directories of more than {MOST_TEXT} bytes in all", "")

    def hard_link(self, entry: Entry) -> str:
        target = normal(entry.target)
        if target.startswith("/") or ".." in target.split("/"):
            return f"is a link that leads outside, to {shorten(entry.target)}"
        if target not in self._files:
            return (
                f"is a hard link to {shorten(entry.target)}, which is not a file that is unpacked before it"
            )
        return ""


def _bad_name(entry: Entry) -> str:
    name = entry.name
    if "\0" in name or "\0" in entry.target:
        return "has a NUL byte in its name"
    if name.startswith("/"):
        return "has an absolute name"
    parts = name.split("/")
    if ".." in parts:
        return "leads out of the directory with '..'"
    longest = max(len(os.fsencode(part)) for part in parts)
    if longest > LONGEST_PART or len(parts) > MOST_PARTS or len(os.fsencode(name)) >= LONGEST_PATH:
        return "has a name that is longer than possible"
    return ""


def _plain(_: Judge, _entry: Entry) -> str:
    return ""


def _special(_: Judge, entry: Entry) -> str:
    return f"is a {entry.kind}, neither a file nor a directory nor a link"


def _link(_: Judge, entry: Entry) -> str:
    if not entry.target or len(os.fsencode(entry.target)) >= LONGEST_PATH:
        return "is a link with an empty target, or one that is longer than possible"
    if link_leads_out(entry.target, entry.name.count("/")):
        return f"is a link that leads outside, to {shorten(entry.target)}"
    return ""


CHECKS: dict[str, Callable[[Judge, Entry], str]] = {
    "file": _plain,
    "directory": _plain,
    "link": _link,
    "hardlink": Judge.hard_link,
}


def shorten(name: str) -> str:
    return repr(name if len(name) <= 200 else f"{name[:200]}…")


def check(entries: Iterable[Entry]) -> None:
    """Raise ``Refused`` if any entry would be, or point, outside of the directory it is unpacked into."""
    judge = Judge()
    for entry in entries:
        judge.look(entry)
