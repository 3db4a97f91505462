"""Files that a run depends on are plain files; whatever else lies there is refused at once."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from saltern.chains.order_files import OrderFiles
from saltern.chains.reserve import Reserve
from saltern.journal.lock_file import LockFile
from saltern.planfile.document import is_plan
from saltern.planfile.make import content_sum
from saltern.system import ledger, mark
from saltern.system.regular import NotRegular, open_regular, read_regular


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


OTHERS: dict[str, Callable[[Path], None]] = {
    "pipe": lambda path: os.mkfifo(path),
    "socket": bound,
    "directory": lambda path: path.mkdir(),
    "link": lambda path: path.symlink_to("/etc/hostname"),
    "link to nothing": lambda path: path.symlink_to("nothing"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
}
WAYS = [os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, os.O_RDWR | os.O_CREAT | os.O_APPEND]


@pytest.fixture(params=OTHERS)
def other(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)  # addresses of sockets are short
    OTHERS[request.param](Path("x"))
    return tmp_path / "x"


@pytest.mark.parametrize("flags", WAYS)
def test_what_is_no_plain_file_is_refused(other: Path, flags: int) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(NotRegular):
        open_regular(str(other), flags)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_is_made_cut_and_read(tmp_path: Path) -> None:
    path = str(tmp_path / "x")
    for text in (b"long text", b"short"):
        file = open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(file, text)
        os.close(file)
        assert read_regular(path) == text
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert read_regular(path, 2) == b"sh"
    with pytest.raises(FileNotFoundError):
        read_regular(path + "y")


def test_a_link_to_a_file_is_followed_where_a_user_names_it(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"text")
    (tmp_path / "y").symlink_to("x")
    assert read_regular(str(tmp_path / "y"), follow=True) == b"text"


@pytest.mark.parametrize("other", ["pipe", "socket", "directory", "link to a device"], indirect=True)
def test_no_reader_of_ours_waits_for_it(other: Path) -> None:
    folder = str(other.parent)
    assert not is_plan(str(other))
    assert content_sum(str(other)) == ""
    lock = LockFile(str(other))
    assert (lock.holder(), lock.last_holder()) == (None, b"")
    with pytest.raises(NotRegular):
        lock.open()
    other.rename(other.parent / "leg.cancel")
    assert OrderFiles(folder).reason("leg", "cancel") == "cancel"
    os.rename(other.parent / "leg.cancel", other.parent / "reserve")
    Reserve(folder).make()
    os.rename(other.parent / "reserve", other.parent / f"x{mark.SUFFIX}")
    with pytest.raises(mark.MarkDamaged):
        mark.read(str(other))


@pytest.mark.parametrize("other", ["pipe", "socket", "directory", "link to a device"], indirect=True)
def test_a_ledger_that_is_no_file_is_a_damaged_one(other: Path) -> None:
    kept = ledger.read(str(other.parent))
    assert kept.damaged
    assert not kept.whole
    assert ledger.at_work(str(other.parent)) == []
    with pytest.raises(NotRegular):
        ledger.create(str(other.parent), other.name)
