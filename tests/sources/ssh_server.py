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
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    host = (folder / "host.pub").read_text().split()
    (folder / "known").write_text(f"[127.0.0.1]:{port} {host[0]} {host[1]}\n")
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
    Path("/run/sshd").mkdir(exist_ok=True)
    with subprocess.Popen(
        [program, "-D", "-f", "/dev/null", "-h", str(folder / "host"), *words], stderr=subprocess.DEVNULL
    ) as server:
        try:
            _wait(port, server)
            yield (
                port,
                f"ssh -F /dev/null -oBatchMode=yes -i {folder}/user -oUserKnownHostsFile={folder}/known",
            )
        finally:
            server.terminate()
            server.wait(60)


def _wait(port: int, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            assert server.poll() is None and time.monotonic() < end
            time.sleep(0.05)
