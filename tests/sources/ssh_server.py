"""An sshd of the test's own on loopback, for the user who runs the tests."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def ssh_server(folder: Path) -> Iterator[tuple[int, str]]:
    """Its port, and the command of ssh that it knows."""
    folder.mkdir()
    for name in ("host", "user"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(words, check=True, timeout=60)
    (folder / "authorized").write_text((folder / "user.pub").read_text())
    port, server = _started(folder)
    host = (folder / "host.pub").read_text().split()
    (folder / "known").write_text(f"[127.0.0.1]:{port} {host[0]} {host[1]}\n")
    command = f"ssh -F /dev/null -oBatchMode=yes -i {folder}/user -oUserKnownHostsFile={folder}/known"
    with server:
        try:
            yield port, command
        finally:
            server.terminate()
            server.wait(60)


def _started(folder: Path) -> tuple[int, subprocess.Popen[bytes]]:
    """An sshd on a port that was free; another process may take it first, so another one is tried then."""
    Path("/run/sshd").mkdir(exist_ok=True)
    for _ in range(10):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(folder / "log", "wb") as log:
            server = subprocess.Popen(_command(folder, port), stderr=log)
        if _listens(port, server):
            return port, server
    raise AssertionError((folder / "log").read_text())


def _command(folder: Path, port: int) -> list[str]:
    options = {
        "AuthorizedKeysFile": folder / "authorized",
        "StrictModes": "no",
        "PidFile": "none",
        "UsePAM": "no",
        "PermitRootLogin": "yes",
        "ListenAddress": f"127.0.0.1:{port}",
    }
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    program = shutil.which("sshd") or "/usr/sbin/sshd"
    return [program, "-D", "-e", "-f", "/dev/null", "-h", str(folder / "host"), *words]


def _listens(port: int, server: subprocess.Popen[bytes]) -> bool:
    """False if it has ended."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if server.poll() is not None:
            return False
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0 and server.poll() is None:
                return True
        time.sleep(0.05)
    raise AssertionError("sshd does not listen")
