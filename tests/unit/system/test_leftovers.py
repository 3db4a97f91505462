"""What killed processes leave is removed by the next one, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from saltern.system import files, leftovers, maker
from saltern.system.files import Attributes

ME = maker.this_process()
DEAD = replace(ME, pid=4194304)  # greater than any number of a process
ROOT = os.geteuid() == 0
KILLED = """
import os, signal, sys
from saltern.system import files
def die(temporary):
    os.kill(os.getpid(), signal.SIGKILL)
files.write(sys.argv[1], b"new", check=die)
"""


def test_a_file_that_was_being_written_is_removed_by_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "app.conf"
    path.write_text("old")
    ended = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert (path.read_text(), len(os.listdir(tmp_path))) == ("old", 2)
    leftovers._swept.clear()
    files.write(str(tmp_path / "other"), b"x")
    assert sorted(os.listdir(tmp_path)) == ["app.conf", "other"]


def test_what_a_living_process_or_another_program_made_stays(tmp_path: Path) -> None:
    names = [leftovers.temporary_name("mine"), ".app.conf.abcdef123456", ".saltern-1-abcdef123456", "x"]
    for name in names:
        (tmp_path / name).touch()
    directory = f".d.saltern-{DEAD.word}-abcdefabcdef"
    (tmp_path / directory).mkdir()
    leftovers._swept.clear()
    files.write(str(tmp_path / "f"), b"x")
    assert sorted(os.listdir(tmp_path)) == sorted([*names, directory, "f"])


@given(st.text(min_size=1, max_size=255).filter(lambda name: "/" not in name and "\0" not in name))
def test_a_temporary_name_fits_and_says_its_maker(name: str) -> None:
    try:
        made = leftovers.temporary_name(name, ".suffix")
    except UnicodeEncodeError:  # half characters that no name of a file has
        return
    assert len(os.fsencode(made)) <= 255
    assert (found := leftovers.BESIDE.match(made.replace("\n", " ")))
    assert maker.parse(found[1]) == ME


def test_a_directory_is_never_more_open_than_it_shall_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    made, changed = os.mkdir, os.fchmod

    def mkdir(name: str, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        made(name, mode, dir_fd=dir_fd)
        seen.append(os.stat(name, dir_fd=dir_fd).st_mode & 0o777)

    monkeypatch.setattr(os, "mkdir", mkdir)
    monkeypatch.setattr(os, "fchmod", lambda fd, mode: changed(fd, mode))
    files.make_directories(str(tmp_path / "a/b"), Attributes(mode=0o750))
    assert seen == [0o700, 0o700]
    assert [(tmp_path / name).stat().st_mode & 0o7777 for name in ("a", "a/b")] == [0o750, 0o750]
    files.make_directories(str(tmp_path / "set"), Attributes(mode=0o2770))
    assert (tmp_path / "set").stat().st_mode & 0o7777 == 0o2770


@pytest.mark.skipif(not ROOT, reason="needs root")
def test_owner_and_mode_are_both_set(tmp_path: Path) -> None:
    files.make_directories(str(tmp_path / "d"), Attributes(mode=0o2750, uid=2, gid=2))
    found = (tmp_path / "d").stat()
    assert (found.st_mode & 0o7777, found.st_uid, found.st_gid) == (0o2750, 2, 2)
