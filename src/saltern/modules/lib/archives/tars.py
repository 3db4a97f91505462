"""Tar archives, in any compression."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO, TYPE_CHECKING, cast

from saltern.modules.api.context import Context
from saltern.modules.api.programs import output
from saltern.modules.api.refused import Refused
from saltern.modules.lib.archives.bounded_reads import Bounded, Readable, blocks, read_as
from saltern.modules.lib.archives.entries import Entry, Limits, Meter
from saltern.modules.lib.archives.selection import ALL, Selection
from saltern.system.temporary import private_directory

if TYPE_CHECKING:
    from tarfile import TarFile, TarInfo

Member = tuple[Entry, Callable[[], Iterator[bytes]]]

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
LATEST = 1 << 40  # seconds: the latest time that a file system can store

# The limit is in blocks of 512 bytes; the arguments do not become part of the script.
BOUNDED = ["/bin/sh", "-c", 'ulimit -f "$1"; shift; exec "$@"', "sh"]


@contextmanager
def _plain(ctx: Context, path: str, limits: Limits) -> Iterator[str]:
    """The path of a file that Python can read: Zstandard is decompressed by its own program."""
    with open(path, "rb") as file:
        magic = file.read(4)
    if magic != ZSTD_MAGIC:
        yield path
        return
    with private_directory("tar") as scratch:
        plain = os.path.join(scratch, "archive.tar")
        size = str(limits.room(path) // 512 + 2 * limits.entries + 2048)
        argv = [*BOUNDED, size, "zstd", "-d", "-q", "--no-sparse", "-o", plain, path]
        output(ctx, argv, what=f"cannot unpack {path}")
        yield plain


def _decompress(path: str) -> IO[bytes]:
    with open(path, "rb") as file:
        magic = file.read(6)
    if magic[:2] == b"\x1f\x8b":
        import gzip

        return cast("IO[bytes]", gzip.open(path))
    if magic[:3] == b"BZh":
        import bz2

        return cast("IO[bytes]", bz2.open(path))
    if magic == b"\xfd7zXZ\0" or magic[:3] == b"\x5d\0\0":
        import lzma

        return cast("IO[bytes]", lzma.open(path))
    return open(path, "rb")


def kind_of(member: TarInfo) -> str:
    kinds: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("file", member.isreg),
        ("directory", member.isdir),
        ("link", member.issym),
        ("hardlink", member.islnk),
        ("pipe", member.isfifo),
    )
    return next((kind for kind, fits in kinds if fits()), "device")


@contextmanager
def members(ctx: Context, path: str, limits: Limits, chosen: Selection = ALL) -> Iterator[Iterator[Member]]:
    """The members to unpack, in order; each must be read before the next is requested."""
    import tarfile

    guard = partial(_guard, path)
    with _plain(ctx, path, limits) as plain:
        meter = Meter(limits, path)
        with guard():
            file = _decompress(plain)
        try:
            with guard():
                archive = tarfile.TarFile(fileobj=Bounded(file, meter))  # type: ignore[arg-type]
            yield _each(archive, meter, chosen, path)
        finally:
            file.close()


@contextmanager
def _guard(path: str) -> Iterator[None]:
    import lzma
    import tarfile
    import zlib

    with read_as("tar", path):
        try:
            yield
        except (tarfile.TarError, lzma.LZMAError, zlib.error) as problem:
            raise ValueError(str(problem)) from None


def _each(archive: TarFile, meter: Meter, chosen: Selection, path: str) -> Iterator[Member]:
    guard = partial(_guard, path)
    at = -1
    while True:
        with guard():
            member = archive.next()
        if member is None:
            return
        if archive.offset <= at:
            raise Refused(f"{path} cannot be read as a tar archive: an entry leads back to an earlier one")
        at = archive.offset
        archive.members.clear()  # type: ignore[attr-defined]  # it would keep all members
        meter.add(member.size if member.isreg() else 0, len(member.name) + len(member.linkname))
        name = chosen.name(member.name)
        if name:
            yield (
                _entry(member, name, chosen),
                partial(blocks, partial(_content, archive, member), guard, meter),
            )


def _content(archive: TarFile, member: TarInfo) -> Readable:
    file = archive.extractfile(member)
    if file is None:
        raise ValueError(f"{member.name} has no content")
    return file


def _entry(member: TarInfo, name: str, chosen: Selection) -> Entry:
    """The entry of a member, with modes as in Python's ``data`` filter: not writable by others, no setuid."""
    target = member.linkname
    if member.islnk():
        target = chosen.name(target) or target
    kind = kind_of(member)
    mode = (member.mode or 0) & 0o755
    return Entry(
        name=name,
        kind=kind,
        member=member.name,
        size=member.size if kind == "file" else 0,
        target=target,
        mode=mode | 0o700 if kind == "directory" else (mode if mode & 0o100 else mode & 0o644) | 0o600,
        time=_time(member),
    )


def _time(member: TarInfo) -> int | None:
    try:
        return max(0, min(int(member.mtime), LATEST))
    except (ValueError, OverflowError):
        return None


def entries(ctx: Context, path: str, limits: Limits, chosen: Selection = ALL) -> list[Entry]:
    with members(ctx, path, limits, chosen) as found:
        return [entry for entry, _ in found]
