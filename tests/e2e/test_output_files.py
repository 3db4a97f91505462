"""``-o`` of every command: what is there decides how it is written."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from tests.e2e.command import Place

COMMANDS = {
    "plan": ("plan", "a", "-o"),
    "graph": ("graph", "a", "-o"),
    "graph in words": ("graph", "a", "--output"),
    "report": ("report", "-o"),
    "report as a page": ("report", "--html", "-o"),
}


@pytest.fixture
def tree(place: Place) -> Place:
    place.write({"a.sls": "x:\n  test.nop: []\n"})
    assert place.run("apply", "a", "--out", "quiet").code == 0
    return place


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
class TestEveryCommand:
    def test_a_device_stays_a_device(self, tree: Place, words: tuple[str, ...]) -> None:
        device = tree.base / "null"
        try:
            os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("makes a device")
        link = tree.base / "link"
        link.symlink_to(device)
        for path in (device, link):
            assert tree.run(*words, str(path)).code == 0
            assert stat.S_ISCHR(path.stat().st_mode)

    def test_a_pipe_is_written_into(self, tree: Place, words: tuple[str, ...]) -> None:
        pipe = tree.base / "pipe"
        os.mkfifo(pipe)
        heard: list[bytes] = []
        reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
        reader.start()
        assert tree.run(*words, str(pipe)).code == 0
        reader.join(30)
        assert heard
        assert heard[0]
        assert stat.S_ISFIFO(pipe.stat().st_mode)

    def test_standard_output_is_written_into(self, tree: Place, words: tuple[str, ...]) -> None:
        done = tree.real(*words, "/dev/stdout")
        assert done.code == 0, done.err
        assert done.out

    def test_a_directory_a_disk_and_a_missing_directory_are_refused(
        self, tree: Place, words: tuple[str, ...]
    ) -> None:
        disk = tree.base / "disk"
        wrong = [tree.base, tree.base / "gone" / "x"]
        try:
            os.mknod(disk, 0o666 | stat.S_IFBLK, os.makedev(7, 250))
            wrong.append(disk)
        except PermissionError:
            pass
        for path in wrong:
            done = tree.run(*words, str(path))
            assert done.code == 1, path
            assert "[output-unwritable]" in done.err
        assert not disk.exists() or stat.S_ISBLK(disk.stat().st_mode)

    def test_a_file_is_private_and_a_link_stays_one(self, tree: Place, words: tuple[str, ...]) -> None:
        link, file = tree.base / "link.html", tree.base / "file.html"
        file.write_text("old")
        link.symlink_to(file)
        assert tree.run(*words, str(link)).code == 0
        assert link.is_symlink()
        assert file.read_text() != "old"
        new = tree.base / "new"
        assert tree.run(*words, str(new)).code == 0
        assert stat.S_IMODE(new.stat().st_mode) == 0o600


def test_a_redirected_output_is_not_replaced(tree: Place, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with kept.open("wb") as file:
        file.write(b"before\n")
        file.flush()
        process = tree.start("graph", "a", "--format", "dot", "-o", "/dev/stdout", stdout=file)
        process.communicate()
    assert kept.read_bytes().startswith(b"before\n")
    assert b"digraph" in kept.read_bytes()
