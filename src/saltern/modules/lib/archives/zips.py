"""Zip archives."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from saltern.modules.api.refused import Refused
from saltern.modules.lib.archives.bounded_reads import BIGGEST_HEADER, BLOCK, Bounded, blocks, read_as
from saltern.modules.lib.archives.entries import Entry, Limits, Meter
from saltern.modules.lib.archives.judge import normal

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

Member = tuple[Entry, Callable[[], Iterator[bytes]]]

LONGEST_TARGET = 4096
ENCRYPTED = 0x1
STORED, DEFLATED = 0, 8
SMALL_BLOCK = 4096  # for other methods, which decompress all their input at once
PER_HEADER = 64  # bytes per entry in the directory of an archive


@contextmanager
def _guard(path: str) -> Iterator[None]:
    import lzma
    import zipfile
    import zlib

    with read_as("zip", path):
        try:
            yield
        except (zipfile.BadZipFile, zlib.error, lzma.LZMAError) as problem:
            raise ValueError(str(problem)) from None
        except NotImplementedError as problem:
            raise Refused(f"{path}: {problem}; set use_cmd_unzip: True to try unzip") from None
        except RecursionError:
            raise
        except RuntimeError:  # its text may contain the password
            raise Refused(f"{path} is encrypted; give the right password") from None


def kind_of(info: ZipInfo) -> str:
    mode = info.external_attr >> 16
    if info.is_dir() or stat.S_ISDIR(mode):
        return "directory"
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_IFMT(mode) in (0, stat.S_IFREG):
        return "file"
    return "device"


@contextmanager
def members(
    path: str, limits: Limits, password: str | None = None, *, perms: bool = True
) -> Iterator[Iterator[Member]]:
    """The members to unpack. Raises if the archive is encrypted and the password is wrong."""
    import zipfile

    meter = Meter(limits, path)
    with open(path, "rb") as file:
        most = max(BIGGEST_HEADER, PER_HEADER * limits.entries)
        with _guard(path):
            archive = zipfile.ZipFile(Bounded(file, Unmetered(), most))
            if password:
                archive.setpassword(password.encode())
        infos = archive.infolist()
        if sum(info.compress_size for info in infos) > os.path.getsize(path):
            raise Refused("the archive is refused: its entries overlap each other")
        yield (_member(archive, info, meter, path, perms) for info in infos if normal(info.filename))


class Unmetered(Meter):
    """A meter without a limit, for the packed file itself."""

    def __init__(self) -> None:
        self.entries = 0

    def check(self, size: int) -> None:
        pass


def _member(archive: ZipFile, info: ZipInfo, meter: Meter, path: str, perms: bool) -> Member:
    guard = partial(_guard, path)
    kind = kind_of(info)
    meter.add(info.file_size, len(info.filename))
    with guard():
        if info.flag_bits & ENCRYPTED:
            archive.open(info).close()
        target = _target(archive, info) if kind == "link" else ""
    mode = (info.external_attr >> 16) & 0o777 if perms else 0
    entry = Entry(
        name=normal(info.filename),
        kind=kind,
        member=info.filename,
        size=info.file_size,
        target=target,
        mode=(mode | 0o700 if kind == "directory" else mode) if mode else None,
    )
    size = BLOCK if info.compress_type in (STORED, DEFLATED) else SMALL_BLOCK
    return entry, partial(blocks, partial(archive.open, info), guard, meter, size)


def _target(archive: ZipFile, info: ZipInfo) -> str:
    if info.file_size > LONGEST_TARGET:
        raise Refused(f"the archive is refused: its link {info.filename[:200]!r} is longer than any path")
    return archive.read(info).decode("utf-8", "surrogateescape")


def entries(path: str, limits: Limits, password: str | None = None) -> list[Entry]:
    with members(path, limits, password) as found:
        return [entry for entry, _ in found]
