"""A disk with a real btrfs in a loop device: its default subvolume is the root of a machine, mounted anew at
each boot, as a boot loader would take it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.modules.bench import needs_root

from saltern.system import snapshots
from saltern.system.snapshots import Btrfs

FIRST = ".snapshots/1/snapshot"
needs_btrfs = needs_root("mkfs.btrfs", "btrfs", "losetup", "unshare")


def run(*words: str) -> str:
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, (words, ran.stderr)
    return ran.stdout.strip()


class Disk:
    """``root`` is the root of the machine; its ``usr`` is that of this one, and its ``var`` a place that no
    snapshot has. ``same`` are more directories that are at the same place as here."""

    def __init__(self, place: Path, same: Sequence[Path] = ()) -> None:
        self.root, self.var, self._top = place / "root", place / "var", place / "top"
        self._same = same
        self._file, self.device = place / "disk", ""
        for folder in (self.root, self.var, self._top):
            folder.mkdir()

    def make(self) -> None:
        with open("/proc/filesystems", encoding="utf-8") as file:
            if "btrfs" not in file.read():
                pytest.skip("this kernel has no btrfs")
        with self._file.open("wb") as file_:
            file_.truncate(128 << 20)
        run("mkfs.btrfs", "-q", str(self._file))
        made = subprocess.run(
            ["losetup", "--find", "--show", self._file], capture_output=True, text=True, check=False
        )
        if made.returncode:
            pytest.skip(f"no loop device to be had: {made.stderr.strip()}")
        self.device = made.stdout.strip()
        tree = f"mkdir -p .snapshots/1 && btrfs subvolume create {FIRST} && cd {FIRST}"
        tree += " && mkdir etc usr var proc tmp"
        tree += "".join(f" && mkdir -p .{one}" for one in self._same)
        links = "ln -s usr/bin bin; ln -s usr/lib lib; ln -s usr/lib64 lib64; echo 1 > etc/release"
        self._at_top(f"{tree}; {links}")
        self.choose(FIRST)
        self.boot()

    def boot(self) -> None:
        """Down and up again, with what is the default now."""
        if os.path.ismount(self.root):
            run("umount", "--recursive", str(self.root))
        run("mount", self.device, str(self.root))
        run("mount", "--bind", "/usr", str(self.root / "usr"))
        run("mount", "--bind", str(self.var), str(self.root / "var"))
        for one in self._same:
            run("mount", "--bind", str(one), f"{self.root}{one}")

    def choose(self, snapshot: str) -> None:
        """As a boot loader that falls back, or a person, does."""
        self._at_top(f"btrfs subvolume set-default {snapshot}")

    def snapshots(self) -> list[str]:
        listed = self._at_top("btrfs subvolume list .")
        return sorted(line.partition(" path ")[2] for line in listed.splitlines())

    def _at_top(self, script: str) -> str:
        """Run a script where all snapshots are seen."""
        mount = f"mount -o subvolid=5 {self.device} {self._top}; cd {self._top}"
        return run("unshare", "--mount", "sh", "-ec", f"{mount}; {script}")

    def release(self) -> str:
        return (self.root / "etc/release").read_text().strip()

    def remove(self) -> None:
        if os.path.ismount(self.root):
            run("umount", "--recursive", str(self.root))
        if self.device:
            run("losetup", "--detach", self.device)

    @property
    def seam(self) -> Btrfs:
        return Btrfs(str(self.root))


@contextmanager
def in_use(disk: Disk) -> Iterator[Disk]:
    """The root of the machine is on this disk meanwhile, for everything that asks for snapshots."""
    try:
        disk.make()
        snapshots.use(disk.seam)
        yield disk
    finally:
        snapshots.use(None)
        disk.remove()
