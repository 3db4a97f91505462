"""Zip archives."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from saltern.modules.states.archive.entries import Entry, Limits, Meter, inside, make_room, tidy
from saltern.modules.states.file.answers import Refusal

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

LONGEST_TARGET = 4096
ENCRYPTED = 0x1


@contextmanager
def _opened(path: str, password: str | None) -> Iterator[ZipFile]:
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(path) as archive:
            if password:
                archive.setpassword(password.encode())
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError) as problem:
        raise Refusal(f"{path} cannot be read as a zip archive: {problem}") from None
    except NotImplementedError as problem:
        raise Refusal(f"{path}: {problem}; use_cmd_unzip: True lets unzip try") from None
    except RuntimeError:  # its text may hold what was tried
        raise Refusal(f"{path} is encrypted; give the right password") from None


def kind_of(info: ZipInfo) -> str:
    mode = info.external_attr >> 16
    if info.is_dir() or stat.S_ISDIR(mode):
        return "directory"
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_IFMT(mode) in (0, stat.S_IFREG):
        return "file"
    return "device"


def entries(path: str, limits: Limits, password: str | None = None) -> list[Entry]:
    """All that would be unpacked. Raises if it is encrypted and the password does not fit."""
    meter = Meter(limits)
    found = []
    with _opened(path, password) as archive:
        for info in archive.infolist():
            if info.flag_bits & ENCRYPTED:
                archive.open(info).close()
            meter.add(info.file_size)
            kind, name = kind_of(info), tidy(info.filename)
            target = _target(archive, info) if kind == "link" else ""
            if name:
                found.append(
                    Entry(name=name, kind=kind, member=info.filename, size=info.file_size, target=target)
                )
    return found


def _target(archive: ZipFile, info: ZipInfo) -> str:
    if info.file_size > LONGEST_TARGET:
        raise Refusal(f"the archive is refused: its link {info.filename!r} is longer than any path")
    return archive.read(info).decode("utf-8", "surrogateescape")


def extract(
    path: str, into: str, wanted: Sequence[Entry], *, password: str | None = None, perms: bool = True
) -> None:
    """Unpack what was listed and checked. A second entry of one name replaces the first."""
    with _opened(path, password) as archive:
        for entry in wanted:
            place = inside(into, entry.name)
            info = archive.getinfo(entry.member)
            if entry.kind == "directory":
                os.makedirs(place, exist_ok=True)
                continue
            os.makedirs(os.path.dirname(place), exist_ok=True)
            make_room(place)
            if entry.kind == "link":
                os.symlink(entry.target, place)
                continue
            _write(archive, info, place)
            mode = (info.external_attr >> 16) & 0o777
            if perms and mode:
                os.chmod(place, mode)


def _write(archive: ZipFile, info: ZipInfo, place: str) -> None:
    from shutil import copyfileobj

    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with archive.open(info) as packed, os.fdopen(os.open(place, flags, 0o666), "wb") as file:
        copyfileobj(packed, file, 1 << 18)
