"""A Docker engine of its own for tests: Debian's ``dockerd`` in a directory and namespaces of its own.

It has a network namespace, so its bridges, addresses and published ports are not this machine's, and a mount
namespace, so nothing stays mounted. It has one image, ``busybox:1.36``, made of Debian's static busybox.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree, which

from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import images
from saltern.modules.lib.containers.engine import Engine

IMAGE = "busybox:1.36"
PROGRAMS = ("dockerd", "containerd", "runc", "unshare", "busybox")
APPLETS = [
    "cat",
    "cp",
    "echo",
    "env",
    "false",
    "hostname",
    "id",
    "ls",
    "mkdir",
    "pwd",
    "sh",
    "sleep",
    "test",
    "touch",
    "true",
    "wc",
]
CGROUPS = Path("/sys/fs/cgroup")
PATIENCE = 60


def why_not() -> str:
    """Why no engine can be started here; empty if one may."""
    if os.geteuid():
        return "needs root"
    missing = [one for one in PROGRAMS if which(one) is None]
    return f"needs {', '.join(missing)}" if missing else ""


@contextlib.contextmanager
def real_engine(place: Path) -> Iterator[str]:
    """Its address, while it runs. Raises ``Refused`` if it does not start."""
    socket, log = place / "docker.sock", place / "log"
    before = _groups()
    (place / "settings.json").write_text("{}")  # this machine's own are not ours
    with log.open("wb") as written:
        daemon = subprocess.Popen(_command(place, socket), stdout=written, stderr=subprocess.STDOUT)
    try:
        address = f"unix://{socket}"
        _await(daemon, Engine(address), log)
        _bring_image(Engine(address), place)
        yield address
    finally:
        daemon.send_signal(signal.SIGTERM)
        try:
            daemon.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()
        _remove_groups(before)
        for part in ("data", "exec"):
            rmtree(place / part, ignore_errors=True)


def _command(place: Path, socket: Path) -> list[str]:
    return [
        *("unshare", "--net", "--mount", "--propagation", "private"),
        *("sh", "-c", 'busybox ip link set lo up && exec "$0" "$@"', "dockerd"),
        *("--data-root", str(place / "data"), "--exec-root", str(place / "exec")),
        *(
            "--host",
            f"unix://{socket}",
            "--pidfile",
            str(place / "pid"),
            "--config-file",
            str(place / "settings.json"),
        ),
        *(
            "--storage-driver",
            "vfs",
            "--iptables=false",
            "--ip6tables=false",
            "--cgroup-parent",
            "/saltern-t",
        ),
    ]


def _await(daemon: subprocess.Popen[bytes], engine: Engine, log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and daemon.poll() is None:
        try:
            engine.get("/_ping")
        except Refused:
            time.sleep(0.1)
        except ValueError:  # it says OK, which is no JSON
            return
    raise Refused("dockerd does not start here: " + log.read_text(errors="replace")[-500:])


def _bring_image(engine: Engine, place: Path) -> None:
    archive = place / "root.tar"
    archive.write_bytes(root_files())
    images.import_archive(engine, str(archive), IMAGE)


def root_files() -> bytes:
    """A root file system with busybox and nothing else."""
    made = io.BytesIO()
    busybox = which("busybox")
    assert busybox is not None
    with tarfile.open(fileobj=made, mode="w") as archive:
        for folder in ("bin", "etc", "tmp"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        archive.add(os.path.realpath(busybox), "bin/busybox")
        for applet in APPLETS:
            link = tarfile.TarInfo(f"bin/{applet}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(link)
        for name, text in (("etc/passwd", "root:x:0:0::/:/bin/sh\nweb:x:1000:1000::/:/bin/sh\n"),):
            file = tarfile.TarInfo(name)
            file.size = len(text)
            archive.addfile(file, io.BytesIO(text.encode()))
    return made.getvalue()


def _groups() -> set[Path]:
    return {path for path in CGROUPS.glob("**/saltern-t") if path.is_dir()}


def _remove_groups(before: set[Path]) -> None:
    """The engine leaves the control groups that it made, empty."""
    for group in _groups() - before:
        for path in sorted([*group.rglob("*"), group], reverse=True):
            if path.is_dir():
                with contextlib.suppress(OSError):
                    path.rmdir()
