"""Every way in which a disk spoils a file, for the files of a run that broke."""

from __future__ import annotations

import os
import random
import shutil
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

ALL = bool(os.environ.get("SALTERN_FAULT_ALL"))
FLIPS = 1  # of each file, where not all are tried
Damage = tuple[str, Callable[[Path], None]]


def damages(path: Path, older: Path | None, chance: random.Random) -> Iterator[Damage]:
    """All that is done to one file, each under its name; ``older`` is a copy of it from before."""
    size = path.stat().st_size
    yield "gone", lambda file: file.unlink()
    yield "empty", lambda file: os.truncate(file, 0)
    yield "zeros", lambda file: _write(file, bytes(size))
    yield "ones", lambda file: _write(file, b"\xff" * size)
    yield from MORE.items() if ALL else [chance.choice(list(MORE.items()))]
    if older is not None and older.exists() and older.read_bytes() != path.read_bytes():
        yield "older", lambda file: _copy(older, file)
    for at in _some(range(1, size), chance):
        yield f"cut at {at}", _cut(at)
    for bit in _some(range(size * 8), chance):
        yield f"bit {bit} flipped", _flip(bit)
    for at in _some(range(size), chance):
        yield f"zeros from {at}", _zeros(at)


def replacements() -> Iterator[Damage]:
    """What a file may be instead of a file."""
    yield "a directory", _directory
    yield "a link to nowhere", _link("/nowhere/at/all")
    yield "a link to an empty device", _link(os.devnull)
    yield "a pipe", _pipe
    yield "a socket", _socket
    if os.geteuid() == 0:
        yield "a device", _device


def _some(every: range, chance: random.Random) -> list[int]:
    return list(every) if ALL and len(every) < 4096 else chance.sample(every, min(FLIPS, len(every)))


def _write(file: Path, data: bytes) -> None:
    file.write_bytes(data)


def _copy(source: Path, file: Path) -> None:
    shutil.copyfile(source, file)


def _exchange(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[len(data) // 2 :] + data[: len(data) // 2])


def _directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


def _socket(file: Path) -> None:
    """Of a process that has ended. By a number of its directory: addresses of sockets are short."""
    file.unlink()
    folder = os.open(file.parent, os.O_PATH)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{folder}/{file.name}")
    finally:
        os.close(folder)
    file.chmod(0o600)


def _device(file: Path) -> None:
    """One that has no end."""
    file.unlink()
    os.mknod(file, 0o600 | stat.S_IFCHR, os.makedev(1, 5))


def _link(target: str) -> Callable[[Path], None]:
    def link(file: Path) -> None:
        file.unlink()
        file.symlink_to(target)

    return link


def _cut(at: int) -> Callable[[Path], None]:
    return lambda file: os.truncate(file, at)


def _flip(bit: int) -> Callable[[Path], None]:
    def flip(file: Path) -> None:
        data = bytearray(file.read_bytes())
        data[bit // 8] ^= 1 << bit % 8
        file.write_bytes(data)

    return flip


def _zeros(at: int) -> Callable[[Path], None]:
    def zero(file: Path) -> None:
        data = bytearray(file.read_bytes())
        data[at : at + 512] = bytes(len(data[at : at + 512]))
        file.write_bytes(data)

    return zero


def files_of(folder: Path) -> list[Path]:
    return sorted(each.relative_to(folder) for each in folder.rglob("*") if each.is_file())


MORE: dict[str, Callable[[Path], None]] = {
    "grown by garbage": lambda file: _write(file, file.read_bytes() + b"\xde\xad" * 600),
    "doubled": lambda file: _write(file, file.read_bytes() * 2),
    "halves exchanged": _exchange,
}
