"""A file of ours is there whole: as it was, or as it is to be."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from saltern.system import atomic


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


def test_a_link_replaces_a_link_a_file_and_what_a_killed_process_left(tmp_path: Path) -> None:
    place = tmp_path / "link"
    place.write_text("a file")
    (tmp_path / f"link.{os.getpid()}.new").symlink_to("left")
    for target in ("one", "two"):
        atomic.link(str(place), target)
        assert os.readlink(place) == target
    assert os.listdir(tmp_path) == ["link"]


def test_what_is_left_of_a_killed_process_is_not_followed(tmp_path: Path) -> None:
    """A link under the name that is about to be written leads nowhere."""
    other = tmp_path / "other"
    other.write_text("mine")
    (tmp_path / f"file.{os.getpid()}.new").symlink_to(other)
    with pytest.raises(OSError, match="symbolic links"):
        atomic.write(str(tmp_path / "file"), b"new")
    assert other.read_text() == "mine"
