"""Tar archives, whatever they are compressed with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from saltern.modules.context import Context
from saltern.modules.states._programs import output
from saltern.modules.states.archive.entries import Entry, Limits, Meter, inside, make_room, tidy
from saltern.modules.states.file.answers import Refusal

if TYPE_CHECKING:
    from tarfile import TarFile, TarInfo

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

# The limit is in blocks of 512 bytes; nothing of the arguments becomes part of the text.
BOUNDED = ["/bin/sh", "-c", 'ulimit -f "$1"; shift; exec "$@"', "sh"]


class Selection(Struct, frozen=True):
    """What ``options`` ask for that is done without ``tar``: strip leading parts, leave some out."""

    strip: int = 0
    exclude: tuple[str, ...] = ()

    def name(self, member: str) -> str:
        """Where a member lands; nothing if it does not."""
        from fnmatch import fnmatchcase

        name = tidy(member)
        parts = name.split("/")
        if self.exclude:
            ends = range(len(parts) + 1)
            pieces = ["/".join(parts[start:end]) for end in ends for start in range(end)]
            if any(fnmatchcase(piece, pattern) for pattern in self.exclude for piece in pieces):
                return ""
        return "/".join(parts[self.strip :]) if self.strip and not name.startswith("/") else name


ALL = Selection()


@contextmanager
def _unpacked(ctx: Context, path: str, limits: Limits) -> Iterator[str]:
    """The path of something ``tarfile`` can read: Zstandard is unpacked by its own program."""
    with open(path, "rb") as file:
        magic = file.read(4)
    if magic != ZSTD_MAGIC:
        yield path
        return
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="saltern-") as scratch:
        plain = os.path.join(scratch, "archive.tar")
        blocks = str(limits.size // 512 + 2 * limits.entries)
        argv = [*BOUNDED, blocks, "zstd", "-d", "-q", "--no-sparse", "-o", plain, path]
        output(ctx, argv, what=f"cannot unpack {path}")
        yield plain


@contextmanager
def _opened(ctx: Context, path: str, limits: Limits) -> Iterator[TarFile]:
    import lzma
    import tarfile
    import zlib

    with _unpacked(ctx, path, limits) as plain:
        try:
            with tarfile.open(plain) as archive:
                yield archive
        except (tarfile.TarError, EOFError, lzma.LZMAError, zlib.error) as problem:
            raise Refusal(f"{path} cannot be read as a tar archive: {problem}") from None


def kind_of(member: TarInfo) -> str:
    kinds: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("file", member.isreg),
        ("directory", member.isdir),
        ("link", member.issym),
        ("hardlink", member.islnk),
        ("pipe", member.isfifo),
    )
    return next((kind for kind, fits in kinds if fits()), "device")


def entries(ctx: Context, path: str, limits: Limits, chosen: Selection = ALL) -> list[Entry]:
    """All that would be unpacked. Reads the archive once, and stops at a bomb."""
    meter = Meter(limits)
    found = []
    with _opened(ctx, path, limits) as archive:
        for member in archive:
            meter.add(member.size)
            if name := chosen.name(member.name):
                found.append(_entry(member, name, chosen))
    return found


def _entry(member: TarInfo, name: str, chosen: Selection) -> Entry:
    target = member.linkname
    if member.islnk():
        target = chosen.name(target) or target
    kind = kind_of(member)
    return Entry(name=name, kind=kind, member=member.name, size=member.size, target=target)


def extract(
    ctx: Context, path: str, into: str, wanted: Sequence[Entry], limits: Limits, chosen: Selection = ALL
) -> None:
    """Unpack what was listed and checked; ``tarfile`` judges every member once more."""
    import tarfile

    if not hasattr(tarfile, "data_filter"):
        raise Refusal("this Python cannot unpack safely; 3.11.4 or newer can")
    names = {entry.member for entry in wanted}

    def landing(member: TarInfo, place: str) -> TarInfo | None:
        name = chosen.name(member.name)
        if member.name not in names or not name:
            return None
        if not member.isdir():
            make_room(inside(into, name))
        link = chosen.name(member.linkname) if member.islnk() else member.linkname
        return tarfile.data_filter(member.replace(name=name, linkname=link, deep=False), place)

    with _opened(ctx, path, limits) as archive:
        archive.extractall(into, filter=landing)


def selection(options: Iterable[str]) -> Selection | None:
    """What these options of ``tar`` ask for; None if only ``tar`` itself can do it."""
    strip, exclude = 0, []
    waiting = ""
    for word in options:
        name, _, value = word.partition("=")
        if waiting:
            name, value, waiting = waiting, word, ""
        elif name in WITH_VALUE and not value:
            waiting = name
            continue
        if name in ("--strip-components", "--strip"):
            if not value.isdecimal():
                raise Refusal(f"--strip-components needs a number, got {value!r}")
            strip = int(value)
        elif name == "--exclude":
            exclude.append(value)
        elif name not in HARMLESS and not _letters(name):
            return None
    return Selection(strip, tuple(exclude))


WITH_VALUE = ("--strip-components", "--strip", "--exclude")
HARMLESS = frozenset(
    {"--extract", "--get", "--verbose", "--gzip", "--bzip2", "--xz", "--zstd", "--auto-compress"}
    | {"--no-same-owner", "--no-same-permissions", "--gunzip", "--overwrite", "--lzma", "--unlink-first"}
)


def _letters(word: str) -> bool:
    """``xvzf``, ``-z``: how to read the archive and how much to say, which is known already."""
    return bool(word) and not word.startswith("--") and set(word.removeprefix("-")) <= set("xvzjJafU")
