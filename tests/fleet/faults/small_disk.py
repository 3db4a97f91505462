"""A small disk for a process: a file system in memory, in a mount namespace that no other process sees."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

MOUNT = """
set -e
mkdir -p "$1" "$1.kept"
cp -a "$1/." "$1.kept/"
mount -t tmpfs -o "size=$2" none "$1"
cp -a "$1.kept/." "$1/"
rm -rf "$1.kept"
echo ready
exec sleep 100000
"""


class SmallDisk:
    """``inside`` is what a command must be begun with to see the disk; ``path`` is where others see it."""

    def __init__(self, process: subprocess.Popen[bytes], place: Path) -> None:
        self.inside = ("nsenter", "--target", str(process.pid), "--mount", "--")
        self.path = Path(f"/proc/{process.pid}/root{place}")

    def fill(self) -> None:
        """Leave no byte, whatever small files are written meanwhile."""
        with (self.path / "ballast").open("ab", buffering=0) as file:
            for size in (1024 * 1024, 4096, 1):
                with suppress(OSError):
                    while True:
                        file.write(b"x" * size)

    def free(self) -> None:
        (self.path / "ballast").unlink()


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[SmallDisk]:
    """Put a disk of this size in the place of a directory, with what is in it."""
    if os.geteuid() != 0 or not shutil.which("nsenter"):
        pytest.skip("a file system can only be mounted by root")
    process = subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", MOUNT, "sh", str(place), size],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        if process.stdout.readline() != b"ready\n":
            pytest.skip(f"no mount is allowed here: {process.communicate()[1].decode().strip()}")
        yield SmallDisk(process, place)
    finally:
        process.kill()
        process.communicate()
