"""Fetch a kernel for the tests that boot a virtual machine, and unpack it into ``build/vm``.

It is Debian's kernel for clouds, downloaded with apt and not installed: the boot of this machine does not
change. If it is not available, those tests are skipped and say so, and the next ``make test`` tries again.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.whole import Unavailable, last_words, replaced

PLACE = Path(__file__).parent.parent / "build" / "vm"
STAMP = ".fetched"
MODULES = ("virtio_pci", "virtio_blk", "virtio_net")  # for a disk and a network, in the order of loading
META = "linux-image-cloud-amd64"
SBIN = os.pathsep.join(("/usr/local/sbin", "/usr/sbin", "/sbin"))  # depmod, also for those who are not root
PATIENT = ("-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20", "-o", "Acquire::https::Timeout=20")


def _run(*argv: str, cwd: Path | None = None) -> str:
    path = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{SBIN}"
    env = {**os.environ, "PATH": path, "LC_ALL": "C"}
    program = shutil.which(argv[0], path=path)
    if program is None:
        raise Unavailable(f"there is no {argv[0]}")
    done = subprocess.run([program, *argv[1:]], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"{' '.join(argv[:2])}: {last_words(done.stderr or done.stdout)}")
    return done.stdout


def named(depends: str) -> str | None:
    """The current kernel of the meta package, in the output of ``apt-cache depends``."""
    found = re.search(r"Depends: (linux-image-\S+)", depends)
    return found[1] if found else None


def _package() -> str:
    """The package. If the package lists were never fetched, or were removed, they are fetched."""
    try:
        known = named(_run("apt-cache", "depends", META))
    except Unavailable:
        known = None
    if known is None and os.geteuid() == 0:
        _run("apt-get", "-qq", *PATIENT, "update")
        known = named(_run("apt-cache", "depends", META))
    if known is None:
        raise Unavailable(f"apt knows no {META}; run apt-get update as root")
    return known


def _unpacked(work: Path) -> Path:
    """The directory with the contents of the package."""
    try:
        _run("apt-get", "-qq", *PATIENT, "download", _package(), cwd=work)
    except Unavailable:  # old lists name a kernel that has been replaced since
        if os.geteuid() != 0:
            raise
        _run("apt-get", "-qq", *PATIENT, "update")
        _run("apt-get", "-qq", *PATIENT, "download", _package(), cwd=work)
    archives = list(work.glob("*.deb"))
    if len(archives) != 1:
        raise Unavailable("apt-get download has left no package")
    _run("dpkg-deb", "-x", str(archives[0]), str(work / "tree"))
    return work / "tree"


def loads(printed: str) -> list[Path]:
    """The files of modules, each after those that it needs, from the output of ``modprobe -D``."""
    lines = [line.split() for line in printed.splitlines() if line.startswith("insmod ")]
    return [Path(path) for path in dict.fromkeys(words[1] for words in lines if len(words) > 1)]


def _modules(tree: Path, version: str) -> list[Path]:
    _run("depmod", "-b", str(tree), version)
    printed = [_run("modprobe", "-d", str(tree), "-S", version, "-D", name) for name in MODULES]
    found = loads("\n".join(printed))
    absent = [name for name in MODULES if not any(name in path.name for path in found)]
    if absent:
        raise Unavailable(f"the kernel {version} has no module {', '.join(absent)}")
    return found


def fetch(place: Path = PLACE) -> None:
    """Fetch the kernel. Raises ``Unavailable``, and then leaves nothing behind."""
    if platform.machine() != "x86_64":
        raise Unavailable("only made for x86_64")
    with replaced(place, STAMP) as made:
        work = made / "work"
        work.mkdir()
        tree = _unpacked(work)
        kernels = list((tree / "boot").glob("vmlinuz-*"))
        if len(kernels) != 1:
            raise Unavailable("the package has no kernel")
        shutil.copy(kernels[0], made / "vmlinuz")
        (made / "modules").mkdir()
        for number, module in enumerate(_modules(tree, kernels[0].name.removeprefix("vmlinuz-"))):
            shutil.copy(module, made / "modules" / f"{number:02}-{module.name}")
        shutil.rmtree(work)


def main() -> int:
    try:
        fetch()
    except (OSError, Unavailable) as problem:
        print(f"no kernel for a virtual machine, the tests that boot one are skipped: {problem}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
