"""A world of packages of its own: a repository in a directory, and apt and dpkg working in another.

``APT_CONFIG``, ``DPKG_ROOT`` and ``DPKG_ADMINDIR`` send the real programs there, so nothing of this
machine is touched, and neither root nor a network is needed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.modules.pkg.calls import Calls, make_run

from saltern.modules.api.context import Run
from saltern.system.host import LocalHost

NEEDED = ("apt-get", "dpkg", "dpkg-deb", "apt-mark")
CONFIG = """
Dir "{root}";
Dir::Etc "{root}/etc/apt";
Dir::State::status "{root}/var/lib/dpkg/status";
Dir::Bin::dpkg "{root}/dpkg";
APT::Architecture "{arch}";
APT::Architectures {{ "{arch}"; }};
APT::Sandbox::User "root";
Acquire::Languages "none";
"""
# Neither a user nor a chroot of its own; what dpkg wants on its PATH is not always there; and what it
# unpacks need not outlive a loss of power.
DPKG = """#!/bin/sh
force="--force-not-root --force-script-chrootless --force-bad-path --force-unsafe-io"
exec dpkg --root={root} $force --log={root}/log "$@"
"""


class World(Calls):
    """``publish`` puts packages into the repository; ``call``, ``change`` … run states in it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "root"
        self.repo = base / "repo"
        self.packages = ""
        for place in ("etc/apt/sources.list.d", "etc/apt/preferences.d", "etc/apt/trusted.gpg.d"):
            (self.root / place).mkdir(parents=True)
        for place in ("var/lib/dpkg/updates", "var/lib/dpkg/info", "var/lib/apt/lists/partial"):
            (self.root / place).mkdir(parents=True)
        (self.root / "var/cache/apt/archives/partial").mkdir(parents=True)
        (self.root / "var/log/apt").mkdir(parents=True)
        (self.root / "var/lib/dpkg/status").touch()
        self.repo.mkdir()
        (base / "states").mkdir()
        arch = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True).stdout.strip()
        (base / "apt.conf").write_text(CONFIG.format(root=self.root, arch=arch))
        (self.root / "dpkg").write_text(DPKG.format(root=self.root))
        (self.root / "dpkg").chmod(0o755)
        (self.root / "etc/apt/sources.list").write_text(f"deb [trusted=yes] copy:{self.repo} ./\n")
        self.run = self.fresh_run()

    def fresh_run(self) -> Run:
        return make_run(self.base, LocalHost(), {"os_family": "Debian", "os": "Debian"})

    # -- packages --------------------------------------------------------------------------------

    def build(self, name: str, version: str = "1.0", *, listed: bool = False, **fields: str) -> str:
        """A package file; with ``conffile`` it has a configuration file."""
        place = self.base / "build" / f"{name}-{version}"
        (place / "DEBIAN").mkdir(parents=True)
        (place / "usr/share" / name).mkdir(parents=True)
        (place / "usr/share" / name / "version").write_text(version)
        if fields.pop("conffile", ""):
            (place / "etc").mkdir()
            (place / "etc" / f"{name}.conf").write_text("x\n")
            (place / "DEBIAN/conffiles").write_text(f"/etc/{name}.conf\n")
        if script := fields.pop("postinst", ""):
            (place / "DEBIAN/postinst").write_text(f"#!/bin/sh\n{script}\n")
            (place / "DEBIAN/postinst").chmod(0o755)
        control = (
            f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: nobody <n@example.org>\n"
        )
        control += "".join(f"{key.capitalize()}: {value}\n" for key, value in fields.items())
        control += "Description: for tests\n"
        (place / "DEBIAN/control").write_text(control)
        target = self.repo if listed else self.base / "files"
        target.mkdir(exist_ok=True)
        path = target / f"{name}_{version.replace(':', '%3a')}_all.deb"
        subprocess.run(
            ["dpkg-deb", "--root-owner-group", "-Znone", "-b", place, path], check=True, capture_output=True
        )
        if listed:
            data = path.read_bytes()
            self.packages += (
                f"{control}Filename: ./{path.name}\nSize: {len(data)}\n"
                f"SHA256: {hashlib.sha256(data).hexdigest()}\n\n"
            )
        return str(path)

    def publish(self, name: str, version: str = "1.0", **fields: str) -> None:
        self.build(name, version, listed=True, **fields)
        (self.repo / "Packages").write_text(self.packages)

    def versions(self) -> dict[str, str]:
        form = "${Package} ${Version} ${db:Status-Status}\\n"
        text = subprocess.run(["dpkg-query", "-W", "-f", form], capture_output=True, text=True).stdout
        rows = [line.split() for line in text.splitlines()]
        return {row[0]: row[1] for row in rows if row[2] == "installed"}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    if missing := [program for program in NEEDED if shutil.which(program) is None]:
        pytest.skip(f"needs {', '.join(missing)}")
    made = World(tmp_path)
    monkeypatch.setenv("APT_CONFIG", str(tmp_path / "apt.conf"))
    monkeypatch.setenv("DPKG_ADMINDIR", str(made.root / "var/lib/dpkg"))
    monkeypatch.setenv("DPKG_ROOT", str(made.root))
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin:/sbin")
    return made
