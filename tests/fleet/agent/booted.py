"""A machine of its own whose process 1 is a real systemd: namespaces of this one, with the same disk.

Its units are those below one directory and nothing else; what it may write to of the disk is that directory.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

SYSTEMD = "/lib/systemd/systemd"
GROUPS = ("/sys/fs/cgroup/unified", "/sys/fs/cgroup")
PATIENCE = 300.0
TARGETS = ("sysinit", "basic", "shutdown", "local-fs", "network-online", "time-sync", "multi-user")
BOOT = f"""\
set -e
mount --make-rprivate /
mount -t proc proc /proc
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/lib
mount -t tmpfs tmpfs /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
export container=saltern SYSTEMD_UNIT_PATH="$1"
exec {SYSTEMD} --system --unit=multi-user.target --log-target=null --show-status=no
"""


class Booted:
    """``run`` runs a command there. ``units`` is where its own units are."""

    def __init__(self, directory: Path, units: str) -> None:
        own = directory / "targets"
        own.mkdir()
        for name in TARGETS:
            (own / f"{name}.target").write_text(f"[Unit]\nDescription={name}\n")
        self._units = f"{units}:{own}"
        self._group = f"{_groups()}/saltern-t-{os.getpid()}-{directory.name}"
        self._unshare: subprocess.Popen[bytes] | None = None
        self._inside: tuple[str, ...] = ()

    def boot(self) -> None:
        os.mkdir(self._group)
        isolate = "unshare --pid --fork --kill-child --mount --cgroup --ipc --uts"
        line = f'echo $$ > {self._group}/cgroup.procs && exec {isolate} sh -c "$0" sh "$1"'
        self._unshare = subprocess.Popen(
            ["sh", "-c", line, BOOT, self._units],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.until(self._is_up)

    def _is_up(self) -> bool:
        assert self._unshare is not None
        if self._unshare.poll() is not None:
            said = self._unshare.stderr.read() if self._unshare.stderr else b""
            pytest.skip(f"no systemd can be booted here: {said.decode().strip()[-300:]}")
        with suppress(OSError, IndexError):
            path = f"/proc/{self._unshare.pid}/task/{self._unshare.pid}/children"
            first = Path(path).read_text().split()[0]
            if Path(f"/proc/{first}/cmdline").read_bytes().startswith(SYSTEMD.encode()):
                self._inside = ("nsenter", "-t", first, "--mount", "--pid", "--cgroup", "--ipc", "--uts")
                return self.call("systemctl", "is-active", "multi-user.target").returncode == 0
        return False

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self._inside, *words], capture_output=True, text=True, timeout=PATIENCE, check=False
        )

    def run(self, *words: str) -> str:
        done = self.call(*words)
        assert done.returncode == 0, done
        return done.stdout.strip()

    def shown(self, unit: str, what: str) -> str:
        return self.run("systemctl", "show", "--value", "--property", what, unit)

    def until(self, is_so: object) -> None:
        assert callable(is_so)
        end = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < end, (
                f"it did not happen: {self.call('systemctl', 'status', '--no-pager').stdout}"
            )
            time.sleep(0.05)

    def end(self) -> None:
        """Pull the plug, and remove the control groups."""
        if self._unshare is not None:
            self._unshare.kill()  # its child, process 1 there, is killed with it, and all with that
            self._unshare.communicate()
        for folder, _, _ in os.walk(self._group, topdown=False):
            end = time.monotonic() + PATIENCE
            while os.path.isdir(folder) and time.monotonic() < end:
                with suppress(OSError):  # its last processes may still end
                    os.rmdir(folder)


def _groups() -> str:
    """Where control groups of version 2 can be made."""
    for place in GROUPS:
        if os.path.exists(f"{place}/cgroup.procs") and os.access(place, os.W_OK):
            return place
    pytest.skip("control groups cannot be made here")


@contextmanager
def booted(directory: Path, units: str) -> Iterator[Booted]:
    if os.geteuid() or not os.path.exists(SYSTEMD) or not shutil.which("nsenter"):
        pytest.skip("a systemd can only be booted by root, where it is installed")
    made = Booted(directory, units)
    try:
        made.boot()
        yield made
    finally:
        made.end()
