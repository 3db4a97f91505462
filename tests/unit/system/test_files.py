"""Safe files: whole or not at all, and never through a planted link."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from saltern.system import files
from saltern.system.files import Attributes, PlantedLink
from saltern.system.host import LocalHost

ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not ROOT, reason="needs root")
NOBODY = 65534


def test_a_write_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    path.chmod(0o640)
    inode = path.stat().st_ino
    files.write(str(path), b"new")
    assert (path.read_text(), path.stat().st_mode & 0o7777) == ("new", 0o640)
    assert path.stat().st_ino != inode
    assert os.listdir(tmp_path) == ["f"]


def test_a_check_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")

    def check(temporary: str) -> None:
        assert Path(temporary).read_text() == "new"
        assert temporary.endswith(".conf")
        assert path.read_text() == "old"
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        files.write(str(path), b"new", suffix=".conf", check=check)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["f"]


def test_the_new_file_is_private_until_it_is_finished(tmp_path: Path) -> None:
    modes: list[int] = []
    real = os.write

    def spy(fd: int, data: bytes) -> int:
        modes.append(os.fstat(fd).st_mode & 0o777)
        return real(fd, data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", spy)
        files.write(str(tmp_path / "f"), b"secret", Attributes(mode=0o644))
    assert modes == [0o600]
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o644


def test_a_very_long_name_still_fits(tmp_path: Path) -> None:
    files.write(str(tmp_path / ("n" * 255)), b"x")
    assert len(os.listdir(tmp_path)) == 1


def test_reading_a_pipe_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p")
    seen = files.see(str(tmp_path / "p"))
    assert seen is not None
    assert (seen.kind, seen.data) == ("pipe", None)
    with pytest.raises(OSError, match="pipe"):
        files.read(str(tmp_path / "p"))


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    assert files.see(str(tmp_path / "none")) is None
    assert files.see(str(tmp_path / "f" / "below")) is None
    assert files.look(str(tmp_path / "none")) is None
    assert files.read("/proc/self/status")  # says its size is 0


def test_a_path_is_settled_through_links(tmp_path: Path) -> None:
    base = os.path.realpath(tmp_path)
    os.makedirs(tmp_path / "real/sub")
    os.symlink("real", tmp_path / "a")
    os.symlink(f"{base}/a/../a/sub", tmp_path / "b")
    assert files.settle(f"{base}/b/f") == f"{base}/real/sub/f"
    assert files.settle(f"{base}/b", follow=False) == f"{base}/b"
    assert files.settle(f"{base}/none/../x") == f"{base}/x"
    assert files.settle("/") == "/"


def test_a_loop_of_links_is_an_error(tmp_path: Path) -> None:
    os.symlink("b", tmp_path / "a")
    os.symlink("a", tmp_path / "b")
    with pytest.raises(OSError, match="links"):
        files.settle(str(tmp_path / "a/f"))
    with pytest.raises(OSError):
        files.see(str(tmp_path / "a"))


@needs_root
def test_a_strangers_link_in_an_open_directory_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    os.symlink("/etc", tmp_path / "link")
    os.chown(tmp_path / "link", NOBODY, NOBODY, follow_symlinks=False)
    with pytest.raises(PlantedLink):
        files.settle(str(tmp_path / "link/passwd"))
    with pytest.raises(PlantedLink):
        files.make_directories(str(tmp_path / "link/new"))
    with pytest.raises(PlantedLink):
        files.set_attributes(str(tmp_path / "link"), Attributes(mode=0o777))


@needs_root
def test_our_own_link_in_an_open_directory_is_fine(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    (tmp_path / "real").mkdir()
    os.symlink("real", tmp_path / "link")
    files.write(str(tmp_path / "link/f"), b"x")
    assert (tmp_path / "real/f").read_bytes() == b"x"


def test_a_link_put_in_after_settling_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    os.symlink("real", tmp_path / "link")
    with pytest.raises(OSError):
        files.open_directory(f"{os.path.realpath(tmp_path)}/link")


@needs_root
def test_owner_and_mode_are_set_together(tmp_path: Path) -> None:
    path = tmp_path / "f"
    files.write(str(path), b"x", Attributes(mode=0o4755, uid=NOBODY, gid=NOBODY))
    found = path.stat()
    assert (found.st_mode & 0o7777, found.st_uid, found.st_gid) == (0o4755, NOBODY, NOBODY)
    files.set_attributes(str(path), Attributes(mode=0o600, uid=0))
    assert (path.stat().st_mode & 0o7777, path.stat().st_uid, path.stat().st_gid) == (0o600, 0, NOBODY)


def test_directories_are_made_from_the_top(tmp_path: Path) -> None:
    base = os.path.realpath(tmp_path)
    made = files.make_directories(f"{base}/a/b/c", Attributes(mode=0o700))
    assert made == [f"{base}/a", f"{base}/a/b", f"{base}/a/b/c"]
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    assert files.make_directories(f"{base}/a/b") == []
    (tmp_path / "f").touch()
    with pytest.raises(OSError):
        files.make_directories(f"{base}/f/g")


def test_removing_a_tree_does_not_follow_links(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/precious").touch()
    (tmp_path / "d").mkdir()
    os.symlink(tmp_path / "outside", tmp_path / "d/link")
    assert files.remove(str(tmp_path / "d")) is True
    assert files.remove(str(tmp_path / "d")) is False
    assert (tmp_path / "outside/precious").exists()


def test_no_handle_is_left_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    files.write(str(tmp_path / "f"), b"x")
    files.make_directories(str(tmp_path / "a/b"))
    files.set_attributes(str(tmp_path / "f"), Attributes(mode=0o600))
    for bad in (
        lambda: files.write(str(tmp_path / "a"), b"x"),
        lambda: files.make_directories(str(tmp_path / "f/g")),
    ):
        with pytest.raises(OSError):
            bad()
    assert len(os.listdir("/proc/self/fd")) == before


def test_the_host_reads_what_it_wrote(tmp_path: Path) -> None:
    host = LocalHost()
    path = str(tmp_path / "f")
    assert host.read(path) is None
    host.write(path, "text\udcff", mode=0o600)
    assert (host.read(path), host.read_bytes(path)) == ("text\udcff", b"text\xff")
    assert host.exists(path) and not host.is_directory(path)
    assert host.makedirs(str(tmp_path / "d"), mode=0o700)
    assert host.is_directory(str(tmp_path / "d"))
    assert host.remove(path) and not host.exists(path)


@needs_root
def test_removing_and_moving_through_a_planted_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim/f").touch()
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o1777)
    os.symlink(tmp_path / "victim", tmp_path / "open/link")
    os.chown(tmp_path / "open/link", NOBODY, NOBODY, follow_symlinks=False)
    with pytest.raises(PlantedLink):
        files.remove(str(tmp_path / "open/link/f"))
    with pytest.raises(PlantedLink):
        files.rename(str(tmp_path / "open/link/f"), str(tmp_path / "g"))
    assert (tmp_path / "victim/f").exists()
    files.remove(str(tmp_path / "open/link"))
    assert os.listdir(tmp_path / "open") == []


def test_only_an_empty_directory_goes_without_its_tree(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").touch()
    with pytest.raises(OSError, match="not empty"):
        files.remove(str(tmp_path / "d"), tree=False)
    files.remove(str(tmp_path / "d/f"), tree=False)
    assert files.remove(str(tmp_path / "d"), tree=False) is True
