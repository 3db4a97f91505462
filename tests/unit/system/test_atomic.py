"""A file of ours is there whole: as it was, or as it is to be."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.system.power import Disk

from saltern.system import atomic, leftovers


@given(st.binary(), st.binary(), st.sampled_from([0o600, 0o644, 0o400]), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
def test_what_is_written_is_there_and_nothing_else(
    tmp_path: Path, old: bytes, new: bytes, mode: int, durable: bool
) -> None:
    place = tmp_path / "file"
    for data in (old, new):
        atomic.write(str(place), data, mode=mode, durable=durable)
    assert place.read_bytes() == new
    assert stat.S_IMODE(place.stat().st_mode) == mode
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("durable", [True, False])
def test_only_a_durable_write_outlives_a_loss_of_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durable: bool
) -> None:
    disk = Disk(monkeypatch)
    atomic.write(str(tmp_path / "file"), b"new", durable=durable)
    assert disk.after_loss(tmp_path) == ({"file": b"new"} if durable else {})


def test_the_mode_does_not_depend_on_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        atomic.write(str(tmp_path / "file"), b"x", mode=0o644)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o644


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    place = tmp_path / "file"
    (place / "full").mkdir(parents=True)  # a directory cannot be replaced by a file
    with pytest.raises(OSError, match="file"):
        atomic.write(str(place), b"new")
    assert os.listdir(tmp_path) == ["file"]
    with pytest.raises(FileNotFoundError):
        atomic.write(str(tmp_path / "none" / "file"), b"new")


def test_a_reader_never_finds_a_part(tmp_path: Path) -> None:
    place = str(tmp_path / "file")
    texts = [bytes([letter]) * 200_000 for letter in b"ab"]
    atomic.write(place, texts[0])

    def write_all() -> None:
        for one in texts * 50:
            atomic.write(place, one, durable=False)

    writer = Thread(target=write_all)
    writer.start()
    found = set()
    while writer.is_alive():
        found.add(Path(place).read_bytes())
    writer.join()
    assert found <= set(texts)


KILLED = """
import os, signal, sys
from saltern.system import atomic, leftovers
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
getattr(atomic, sys.argv[1])(sys.argv[2], sys.argv[3].encode() if sys.argv[1] == "write" else sys.argv[3])
"""


@pytest.mark.parametrize("deed", ["write", "link"])
def test_what_a_killed_process_left_is_removed_by_the_next_write(tmp_path: Path, deed: str) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    argv = [sys.executable, "-c", KILLED, deed, str(tmp_path / "file"), str(other)]
    assert subprocess.run(argv, check=False).returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 2
    leftovers._swept.clear()
    atomic.write(str(tmp_path / "next"), b"new")
    assert sorted(os.listdir(tmp_path)) == ["next", "other"]
    assert other.read_text() == "mine"


def test_a_link_replaces_a_link_and_a_file(tmp_path: Path) -> None:
    place = tmp_path / "link"
    place.write_text("a file")
    for target in ("one", "two"):
        atomic.link(str(place), target)
        assert os.readlink(place) == target
    assert os.listdir(tmp_path) == ["link"]


def test_a_link_that_cannot_be_put_there_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file" / "full").mkdir(parents=True)
    with pytest.raises(OSError, match="file"):
        atomic.link(str(tmp_path / "file"), "x")
    assert os.listdir(tmp_path) == ["file"]


def test_a_link_under_the_name_that_is_about_to_be_written_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    (tmp_path / ".planted").symlink_to(other)
    monkeypatch.setattr(leftovers, "temporary_name", lambda _: ".planted")
    with pytest.raises(FileExistsError):
        atomic.write(str(tmp_path / "file"), b"new")
    assert other.read_text() == "mine"
