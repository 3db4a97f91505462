"""A real sshd on loopback, with keys and a configuration of its own."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from saltern.fleet.ssh.roster.host import Host

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/bin:/sbin:/bin")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Server:
    """One sshd. ``lines`` of its configuration win over ours. With ``before``, lines of shell, it has mounts
    of its own, which those make."""

    def __init__(self, directory: Path, lines: Sequence[str] = (), before: str = "") -> None:
        if SSHD is None or shutil.which("ssh") is None:
            pytest.skip("needs OpenSSH: sshd and ssh")
        self.directory = directory
        self._before = before
        self.port = free_port()
        self.key = directory / "id"
        self.known_hosts = directory / "known_hosts"
        directory.mkdir(parents=True, exist_ok=True)
        for name in ("id", "host"):
            if not (directory / name).exists():
                subprocess.run(
                    ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / name)], check=True
                )
        (directory / "authorized").write_text((directory / "id.pub").read_text())
        named = {line.split()[0] for line in lines}  # of some options sshd takes the last line
        usual = [line for line in self._lines() if line.split()[0] not in named]
        (directory / "sshd_config").write_text("\n".join([*lines, *usual]) + "\n")
        self.trust()
        self._process: subprocess.Popen[bytes] | None = None

    def _lines(self) -> list[str]:
        return [
            f"Port {self.port}",
            "ListenAddress 127.0.0.1",
            f"HostKey {self.directory}/host",
            f"AuthorizedKeysFile {self.directory}/authorized",
            f"PidFile {self.directory}/pid",
            "StrictModes no",
            "UsePAM no",
            "PasswordAuthentication no",
            "PermitRootLogin yes",
            "MaxStartups 100",
        ]

    def trust(self) -> None:
        """Let clients know the host key as it is now."""
        key = " ".join((self.directory / "host.pub").read_text().split()[:2])
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {key}\n")

    def start(self) -> Server:
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        with open(self.directory / "log", "ab") as log:
            command = [str(SSHD), "-D", "-e", "-f", str(self.directory / "sshd_config")]
            if self._before:
                script = f'set -e\n{self._before}\nexec "$@"'
                command = ["unshare", "--mount", "sh", "-c", script, "sh", *command]
            self._process = subprocess.Popen(command, stderr=log)
        return self.until_listening()

    def until_listening(self) -> Server:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            time.sleep(0.02)
        raise AssertionError((self.directory / "log").read_text())

    def cut(self) -> None:
        """End every connection that is open."""
        for line in subprocess.run(
            ["ss", "-Htnp"], capture_output=True, text=True, check=False
        ).stdout.splitlines():
            if f"127.0.0.1:{self.port} " in line and "sshd" in line:
                for pid in set(re.findall(r"pid=(\d+)", line)):
                    with suppress(ProcessLookupError):  # it went with the one before
                        os.kill(int(pid), signal.SIGKILL)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def host(self, id_: str = "web1", **options: object) -> Host:
        given: dict[str, object] = {
            "id": id_,
            "address": "127.0.0.1",
            "port": self.port,
            "user": getpass.getuser(),
            "keys": (str(self.key),),
            "settings": ("IdentitiesOnly=yes", "IdentityAgent=none"),
            "directory": str(self.directory / "base"),
            **options,
        }
        return Host(**given)  # type: ignore[arg-type]
