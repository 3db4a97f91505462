"""A private directory that programs unpack into, and its contents as members of an archive."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from msgspec import Struct

from saltern.modules.lib.archives.entries import Entry, Meter
from saltern.system.rooted import OLD, Rooted
from saltern.system.temporary import private_directory, roomy_folder

Member = tuple[Entry, Callable[[], Iterator[bytes]]]

UNPRIVILEGED = "nobody"
BLOCK = 1 << 18
KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link", stat.S_IFIFO: "pipe"}


class Scratch:
    """The directory of a program: ``path``, below a directory that only we can enter or change."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.path = os.path.join(base, "unpacked")
        self.copy = os.path.join(base, "archive")
        os.mkdir(self.path, 0o700)

    def give_away(self, archive: str) -> str | None:
        """The user for an untrusted program, with its own copy of the archive."""
        if os.geteuid():
            return None
        from pwd import getpwnam
        from shutil import copyfile

        try:
            who = getpwnam(UNPRIVILEGED)
        except KeyError:
            return None
        copyfile(archive, self.copy)
        os.chmod(self.copy, 0o644)
        os.chmod(self.base, 0o711)
        os.chown(self.path, who.pw_uid, who.pw_gid)
        return UNPRIVILEGED


@contextmanager
def make_scratch() -> Iterator[Scratch]:
    with private_directory("unpack", where=roomy_folder()) as base:
        yield Scratch(base)


class Staged(Struct, frozen=True, kw_only=True):
    """The unpacked files, and whether their owners and modes are used."""

    path: str
    owners: bool = False
    modes: bool = False


def staged_members(found: Staged, meter: Meter) -> Iterator[Member]:
    """The members, every directory before its contents."""
    with Rooted(found.path) as tree:
        todo = [""]
        while todo:
            below = todo.pop()
            for part in tree.names(below):
                name = f"{below}/{part}".lstrip("/")
                info = tree.look(name)
                if info is None:
                    continue
                meter.add(info.st_size if stat.S_ISREG(info.st_mode) else 0, len(name))
                if stat.S_ISDIR(info.st_mode):
                    todo.append(name)
                yield _entry(found, tree, name, info), partial(_content, tree, name, meter)


def _entry(found: Staged, tree: Rooted, name: str, info: os.stat_result) -> Entry:
    kind = KINDS.get(stat.S_IFMT(info.st_mode), "device")
    mode = stat.S_IMODE(info.st_mode)
    return Entry(
        name=name,
        kind=kind,
        size=info.st_size if kind == "file" else 0,
        target=tree.target(name) if kind == "link" else "",
        mode=mode if found.modes else mode & 0o755 | (0o700 if kind == "directory" else 0o600),
        time=int(info.st_mtime),
        uid=info.st_uid if found.owners else None,
        gid=info.st_gid if found.owners else None,
    )


def _content(tree: Rooted, name: str, meter: Meter) -> Iterator[bytes]:
    total = 0
    with os.fdopen(tree.open(name, OLD), "rb") as file:
        while block := file.read(BLOCK):
            total += len(block)
            meter.check(total)
            yield block
