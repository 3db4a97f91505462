"""``reach`` leads where ``settle`` leads, and links and directories are made in as few steps as they need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from saltern.system import files
from saltern.system.paths import open_directory, open_without_links, reach, settle

PARTS = st.sampled_from(
    ["", ".", "..", "d", "e", "file", "up", "out", "loop", "dangling", "missing", "tofile", "absolute"]
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    top = tmp_path / "top"
    for directory in (top / "d" / "e", top / "e" / "d", tmp_path / "elsewhere" / "d"):
        directory.mkdir(parents=True)
    for place in (top, top / "d", top / "d" / "e"):
        (place / "file").write_text("x")
        (place / "up").symlink_to("..")
        (place / "out").symlink_to(tmp_path / "elsewhere")
        (place / "loop").symlink_to("loop")
        (place / "dangling").symlink_to("missing/deeper")
        (place / "tofile").symlink_to("file")
        (place / "absolute").symlink_to(top / "d")
    return top


def by_hand(path: str, follow: bool) -> tuple[tuple[int, int], str] | tuple[type, int | None]:
    try:
        place = settle(path, follow=follow)
        return _inode(open_directory(os.path.dirname(place))), place
    except OSError as problem:
        return type(problem), problem.errno


def at_once(path: str, follow: bool) -> tuple[tuple[int, int], str] | tuple[type, int | None]:
    try:
        directory, place = reach(path, follow=follow)
    except OSError as problem:
        return type(problem), problem.errno
    return _inode(directory), place


def _inode(directory: int) -> tuple[int, int]:
    found = os.fstat(directory)
    os.close(directory)
    return found.st_dev, found.st_ino


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=1000)
@example(parts=["up", ""], follow=False, rooted=True)
@example(parts=["d", "up", "."], follow=False, rooted=True)
@given(parts=st.lists(PARTS, max_size=6), follow=st.booleans(), rooted=st.booleans())
def test_it_leads_where_settling_leads(tree: Path, parts: list[str], follow: bool, rooted: bool) -> None:
    before = len(os.listdir("/proc/self/fd"))
    path = "/".join([str(tree), *parts] if rooted else ["", *parts])
    assert at_once(path, follow) == by_hand(path, follow)
    assert len(os.listdir("/proc/self/fd")) == before, "a handle was left open"


@pytest.mark.parametrize("name", ["plain", "two\nlines", "gone (deleted)", "\udcff", "ü", "a b\t"])
def test_a_directory_of_any_name_is_opened_at_once_unless_a_link_leads_there(
    tmp_path: Path, name: str
) -> None:
    top = os.path.realpath(tmp_path)
    os.makedirs(f"{top}/{name}/inner")
    os.symlink(name, f"{top}/link")
    directory = open_without_links(f"{top}/{name}/inner")
    assert directory is not None
    assert _inode(directory) == _inode(os.open(f"{top}/{name}/inner", os.O_PATH))
    assert open_without_links(f"{top}/link") is None
    assert open_without_links(f"{top}/link/inner") is None
    assert open_without_links(f"{top}/missing") is None


@pytest.mark.parametrize("there", ["nothing", "file", "link", "directory"])
def test_a_link_is_put_in_place_of_what_a_name_can_replace(tmp_path: Path, there: str) -> None:
    place = tmp_path / "link"
    if there == "file":
        place.write_text("old")
    elif there == "link":
        place.symlink_to("old")
    elif there == "directory":
        place.mkdir()

    def make(name: str, directory: int) -> None:
        os.symlink("new", name, dir_fd=directory)

    if there == "directory":
        with pytest.raises(IsADirectoryError):
            files.link(str(place), make)
    else:
        files.link(str(place), make)
        assert os.readlink(place) == "new"
    assert os.listdir(tmp_path) == ["link"], "nothing is left beside it"


@given(existing=st.integers(0, 4), more=st.integers(0, 4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_only_missing_directories_are_made(
    tmp_path_factory: pytest.TempPathFactory, existing: int, more: int
) -> None:
    base = tmp_path_factory.mktemp("made")
    there = base.joinpath(*"abcd"[:existing])
    there.mkdir(parents=True, exist_ok=True)
    wanted = there.joinpath(*"wxyz"[:more])
    assert files.make_directories(str(wanted), files.Attributes(mode=0o750)) == [
        str(there.joinpath(*"wxyz"[: count + 1])) for count in range(more)
    ]
    assert wanted.is_dir()


def test_a_file_on_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotADirectoryError):
        files.make_directories(str(tmp_path / "file" / "below"))
