"""A user who may not install packages is told so at once; a lock that another one holds is waited for."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from tests.e2e.command import NOBODY
from tests.modules.bench import ScriptedHost

from saltern.modules.lib.packages.model import PackageError
from saltern.modules.lib.packages.tool import TRIES, Tool, is_busy, needs_root
from saltern.system.clock import FakeClock
from saltern.system.process import Ran

REFUSED = {
    "apt": "E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)\n"
    "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?",
    "apt update": "E: Could not open lock file /var/lib/apt/lists/lock - open (13: Permission denied)\n"
    "E: Unable to lock directory /var/lib/apt/lists/",
    "dpkg": "dpkg: error: requested operation requires superuser privileges",
    "dnf": "Error: This command has to be run with superuser privileges.",
    "zypper": "Root privileges are required to run this command.",
    "pacman": "error: you cannot do this unless you are root.\nerror: failed to init transaction"
    " (unable to lock database): permission denied",
    "apk": "ERROR: Unable to lock database: Permission denied",
}
BUSY = {
    "apt": "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 77 (apt-get)",
    "zypper": "System management is locked by the application with pid 77 (zypper).",
    "pacman": "error: failed to init transaction (unable to lock database)",
    "apk": "ERROR: Unable to lock database: Resource temporarily unavailable",
}


def ordered(said: str) -> tuple[str, ScriptedHost, FakeClock]:
    host, clock = ScriptedHost({"manager": Ran(100, err=said)}), FakeClock()
    with pytest.raises(PackageError) as raised:
        Tool(host, clock).order("manager", "install", "x")
    return str(raised.value), host, clock


@pytest.mark.parametrize("manager", REFUSED)
def test_who_is_not_root_is_reported_at_once(monkeypatch: pytest.MonkeyPatch, manager: str) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    said, host, clock = ordered(REFUSED[manager])
    assert said.endswith("this needs root: run saltern as root")
    assert len(host.asked) == 1
    assert clock.slept == []


@pytest.mark.parametrize("manager", BUSY)
@pytest.mark.parametrize("user", [0, 1000])
def test_a_lock_is_waited_for_and_that_is_reported_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], manager: str, user: int
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    said, host, _ = ordered(BUSY[manager])
    assert len(host.asked) == TRIES
    assert "run saltern as root" not in said
    told = "saltern: waiting for another program that uses manager, at most 300 seconds\n"
    assert capsys.readouterr().err == told


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
@pytest.mark.parametrize("line", ["apt-get -y remove dpkg", "apt-get update", "dpkg --remove x"])
def test_the_real_programs_say_so(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    argv = line.split()
    if shutil.which(argv[0]) is None:
        pytest.skip(f"needs {argv[0]}")
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": "/"}
    done = subprocess.run(argv, user=NOBODY, group=NOBODY, env=env, cwd="/", capture_output=True, text=True)
    monkeypatch.setattr(os, "geteuid", lambda: NOBODY)
    ran = Ran(done.returncode, done.stdout, done.stderr)
    assert needs_root(ran), (done.stdout, done.stderr)
    assert not is_busy(ran)
