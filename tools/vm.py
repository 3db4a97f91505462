"""Fetch a kernel for the tests that boot a virtual machine, and unpack it into ``build/vm``.

It is Debian's kernel for clouds, downloaded with apt and not installed: this machine boots what it booted
before. Where it cannot be had, those tests are skipped and say so.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PLACE = Path(__file__).parent.parent / "build" / "vm"
MODULES = ("virtio_pci", "virtio_blk")  # a disk, in the order in which they are loaded
META = "linux-image-cloud-amd64"


def _run(*argv: str, cwd: Path | None = None) -> str:
    return subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=True).stdout


def _package() -> str:
    """The kernel that the meta package stands for now."""
    found = re.search(r"Depends: (linux-image-\S+)", _run("apt-cache", "depends", META))
    if found is None:
        raise OSError(f"apt knows no {META}")
    return found[1]


def _unpacked(work: Path) -> None:
    _run("apt-get", "-qq", "download", _package(), cwd=work)
    (archive,) = work.glob("*.deb")
    _run("dpkg-deb", "-x", str(archive), str(work))


def _loads(tree: Path, version: str) -> list[Path]:
    """The files of the modules, each after those that it needs."""
    _run("depmod", "-b", str(tree), version)
    told = [_run("modprobe", "-d", str(tree), "-S", version, "-D", name) for name in MODULES]
    lines = "\n".join(told).splitlines()
    return [Path(path) for path in dict.fromkeys(line.split()[1] for line in lines if "insmod" in line)]


def fetch() -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        _unpacked(work)
        (kernel,) = (work / "boot").glob("vmlinuz-*")
        shutil.rmtree(PLACE, ignore_errors=True)
        (PLACE / "modules").mkdir(parents=True)
        shutil.copy(kernel, PLACE / "vmlinuz")
        for number, module in enumerate(_loads(work, kernel.name.removeprefix("vmlinuz-"))):
            shutil.copy(module, PLACE / "modules" / f"{number:02}-{module.name}")


def main() -> int:
    try:
        if platform.machine() != "x86_64":
            raise OSError("only made for x86_64")
        fetch()
    except (OSError, subprocess.CalledProcessError, ValueError) as problem:
        print(f"no kernel for a virtual machine, the tests that boot one are skipped: {problem}")
        PLACE.mkdir(parents=True, exist_ok=True)
    (PLACE / ".fetched").touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
