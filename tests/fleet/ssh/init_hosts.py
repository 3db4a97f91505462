"""Hosts with an init of their own: a real systemd, or none; both in namespaces, with an sshd that lets us in.

What is installed there is seen by that host alone: its ``/etc``, ``/run`` and ``/var/lib`` are its own.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.fleet.ssh.server import SSHD, Server
from tests.fleet.ssh.test_private_host import own_etc

SYSTEMD = "/lib/systemd/systemd"
OWN = """
mount --make-rprivate /
mount --bind {directory}/etc /etc
mount -t tmpfs tmpfs /run
mkdir /run/sshd
mount -t tmpfs tmpfs /var/lib
"""
BOOT = """
mount -t proc proc /proc
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
umount -l /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
exec env -i PATH="$PATH" container=test SYSTEMD_UNIT_PATH=/etc/systemd/system \
    {systemd} --system --log-target=console --show-status=no
"""
# No other unit is known there: those of this machine would clean its /tmp and look for its devices.
TARGETS = ("sysinit", "basic", "shutdown", "multi-user", "network-online", "local-fs", "time-sync")
UNITS = {
    "default.target": "[Unit]\nAllowIsolate=yes\nWants=test-sshd.service\n",
    "test-sshd.service": "[Service]\nExecStart={sshd} -D -e -f {directory}/sshd_config\nKillMode=process\n",
    **{f"{name}.target": "[Unit]\nDefaultDependencies=no\n" for name in TARGETS},
}
NAMESPACES = ("--mount", "--pid", "--fork", "--kill-child", "--cgroup", "--uts", "--ipc")


def unified() -> Path:
    """Where the second version of control groups is mounted; skips the test if it is nowhere."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, where, kind, *_ = line.split()
        if kind == "cgroup2" and os.access(where, os.W_OK):
            return Path(where)
    pytest.skip("needs control groups, version 2")


class ScriptHost(Server):
    """A host without systemd: what is in /etc/init.d starts its services."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, before=OWN.format(directory=directory))
        own_etc(directory)


class SystemdHost(Server):
    """A host whose first process is systemd, in namespaces and in a control group of its own."""

    def __init__(self, directory: Path) -> None:
        if not os.path.exists(SYSTEMD):
            pytest.skip("needs systemd")
        super().__init__(directory)
        units = own_etc(directory) / "systemd" / "system"
        shutil.rmtree(units)
        units.mkdir()
        for name, text in UNITS.items():
            (units / name).write_text(text.format(sshd=SSHD, directory=directory))
        self._group = unified() / f"saltern-{os.getpid()}-{directory.name}"

    def start(self) -> Server:
        self._group.mkdir()
        script = f"set -e\n{OWN}{BOOT}".format(directory=self.directory, systemd=SYSTEMD)
        enter = f'echo $$ > {self._group}/cgroup.procs; exec "$@"'
        words = ["sh", "-c", enter, "sh", "unshare", *NAMESPACES, "sh", "-c", script]
        with open(self.directory / "log", "ab") as log:
            self._process = subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        return self.until_listening()

    def stop(self) -> None:
        super().stop()
        end = time.monotonic() + 60
        while self._group.exists() and time.monotonic() < end:
            self._remove_groups()
            time.sleep(0.05)

    def _remove_groups(self) -> None:
        """Remove its control groups, inner ones first; a process that lingers is killed once more."""
        folders = sorted((path.parent for path in self._group.rglob("cgroup.procs")), reverse=True)
        for folder in [*folders, self._group]:
            with suppress(OSError, ProcessLookupError):
                for pid in (folder / "cgroup.procs").read_text().split():
                    os.kill(int(pid), signal.SIGKILL)
                folder.rmdir()
