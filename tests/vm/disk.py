"""The disk of a virtual machine: this Python, this tree, busybox, and what a test adds."""

from __future__ import annotations

import compileall
import gzip
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from importlib.metadata import distribution
from pathlib import Path

from saltern.fleet.agent import service as agent_service
from saltern.system import services

ROOT = Path(__file__).parents[2]
KERNEL = ROOT / "build/vm/vmlinuz"
MODULES = ROOT / "build/vm/modules"
NEEDED = ("jinja2", "markupsafe", "pyyaml", "msgspec")
NEEDED_BY_AGENT = ("nats-py", "pynacl", "cffi", "cronsim", "typing_extensions")
AGENT_DIRECTORY = "/var/lib/agent"
LEFT_OUT = ("site-packages", "test", "tests", "idlelib", "tkinter", "ensurepip", "lib2to3", "turtledemo")
SIZE = "320M"

# A machine of busybox: what runs at boot is the init script that saltern has installed. The network is the
# one that qemu emulates: the host, and what listens on its loopback, is 10.0.2.2.
INITTAB = """\
::sysinit:/etc/init.d/rcS
ttyS0::respawn:/bin/sh
::shutdown:/etc/init.d/rcK
::shutdown:/bin/umount -a -r
"""
RCK = """\
#!/bin/sh
for script in /etc/rc6.d/K*; do [ -x "$script" ] && "$script" stop; done
"""
RCS = """\
#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /run
mount -o remount,rw /
hostname guest
ifconfig lo 127.0.0.1
[ ! -e /sys/class/net/eth0 ] || ifconfig eth0 10.0.2.15
echo "guest is up in boot $(cat /proc/sys/kernel/random/boot_id)" >/dev/console
for script in /etc/rc2.d/S*; do "$script" start; done
"""
FIRST = """\
#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
for module in /modules/*; do /bin/busybox insmod "$module"; done
/bin/busybox mount -t ext4 -o ro /dev/vda /disk
/bin/busybox mount -t devtmpfs dev /disk/dev
exec /bin/busybox switch_root /disk /sbin/init
"""


def busybox() -> str:
    return shutil.which("busybox") or "/bin/busybox"


def missing() -> str:
    """What keeps a virtual machine from being booted here; empty if nothing does."""
    tools = ("qemu-system-x86_64", "mke2fs", "debugfs", "busybox")
    absent = [name for name in tools if shutil.which(name) is None]
    absent += [] if KERNEL.exists() and any(MODULES.glob("*")) else ["a kernel in build/vm (`make vm`)"]
    return f"needs {', '.join(absent)}" if absent else ""


def missing_for_network() -> str:
    """The same for a virtual machine with a network; what was fetched earlier may have no module for it."""
    if reason := missing():
        return reason
    if not any(MODULES.glob("*virtio_net*")):
        return "needs a kernel with a module for the network in build/vm (`make vm`)"
    kinds = subprocess.run(["qemu-system-x86_64", "-netdev", "help"], capture_output=True, text=True).stdout
    return "" if "user" in kinds.split() else "needs a qemu that emulates a network (user)"


def make_start(place: Path) -> Path:
    """The initial file system: it loads the modules of the disk and goes over to that."""
    files = {"init": (FIRST.encode(), 0o100755), "bin/busybox": (Path(busybox()).read_bytes(), 0o100755)}
    files |= {f"modules/{one.name}": (one.read_bytes(), 0o100644) for one in sorted(MODULES.iterdir())}
    folders = dict.fromkeys(("bin", "dev", "disk", "modules"), (b"", 0o040755))
    entries = [*folders.items(), *files.items(), ("TRAILER!!!", (b"", 0))]
    made = place / "start.gz"
    made.write_bytes(gzip.compress(b"".join(_entry(name, *what) for name, what in entries), 1))
    return made


def _entry(name: str, data: bytes, mode: int) -> bytes:
    """One file of an archive in the form that kernels read ("newc")."""
    path = name.encode() + b"\0"
    numbers = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
    head = b"070701" + b"".join(b"%08X" % number for number in numbers) + path
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def make_disk(place: Path, files: Mapping[str, str], *, with_agent: bool = False) -> Path:
    """A file system with ``files``, path → text. What runs at boot: ``saltern resume``, or an agent."""
    tree = place / "tree"
    for name in ("proc", "sys", "dev", "run", "tmp", "root", "var/lib", "bin", "sbin", "usr/bin"):
        (tree / name).mkdir(parents=True)
    _put_programs(tree)
    if with_agent:
        agent_service.install(str(tree), directory=AGENT_DIRECTORY, python=sys.executable)
    else:
        services.install(str(tree), python=sys.executable)
    _put_python(tree, (*NEEDED, *(NEEDED_BY_AGENT if with_agent else ())))
    fixed = {"etc/inittab": INITTAB, "etc/init.d/rcS": RCS, "etc/init.d/rcK": RCK}
    fixed |= {"etc/passwd": "root::0:0::/root:/bin/sh\n"}
    fixed |= {"usr/bin/saltern": f'#!/bin/sh\nexec {sys.executable} -m saltern "$@"\n'}
    for name, text in {**fixed, **files}.items():
        file = tree / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755 if text.startswith("#!/bin/sh") else 0o644)
    image = place / "disk"
    subprocess.run(
        ["mke2fs", "-q", "-t", "ext4", "-d", str(tree), "-E", "root_owner=0:0", str(image), SIZE],
        check=True,
        capture_output=True,
    )
    shutil.rmtree(tree)
    return image


def _put_programs(tree: Path) -> None:
    shutil.copy(busybox(), tree / "bin/busybox")
    listed = subprocess.run([busybox(), "--list-full"], capture_output=True, text=True, check=True).stdout
    for name in listed.split():
        link = tree / name
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.exists():
            link.symlink_to("/bin/busybox")


def _put_python(tree: Path, needed: Iterable[str]) -> None:
    """At the places where they are here, so that all paths are the same."""
    library = Path(sysconfig.get_path("stdlib"))
    ignored = shutil.ignore_patterns(*LEFT_OUT, "config-*", "*.opt-1.pyc")
    shutil.copytree(library, _below(tree, library), ignore=ignored, symlinks=True)
    program = Path(os.path.realpath(sys.executable))
    _copy(tree, [program])
    started = _below(tree, Path(sys.executable))
    if not started.exists():
        started.parent.mkdir(parents=True, exist_ok=True)
        started.symlink_to(program)
    packages = _below(tree, library) / "site-packages"
    _compile(ROOT / "src/saltern")
    # The files of code are valid for the files here only, and runs of the tests leave 130 MB of them.
    ours = shutil.ignore_patterns("*.code")
    shutil.copytree(ROOT / "src/saltern", packages / "saltern", symlinks=True, ignore=ours)
    for name in needed:
        for file in distribution(name).files or ():
            if ".." not in file.parts:
                target = packages / str(file)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(str(file.locate()), target)
    _compile(packages)
    _copy(tree, _libraries([program, *_below(tree, library).rglob("*.so")]))


def _compile(folder: Path) -> None:
    """For workers, and for agents (``-OO``): the guest would take minutes for it."""
    for level in (0, 2):
        compileall.compile_dir(folder, quiet=2, optimize=level)


def _libraries(programs: Iterable[Path]) -> list[Path]:
    told = subprocess.run(["ldd", *map(str, programs)], capture_output=True, text=True).stdout
    return [Path(path) for path in sorted(set(re.findall(r"(/\S+) \(0x", told)))]


def _copy(tree: Path, files: Iterable[Path]) -> None:
    for file in files:
        target = _below(tree, file)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)


def _below(tree: Path, place: Path) -> Path:
    return tree / str(place).lstrip("/")


def read_out(image: Path, inside: str, to: Path) -> Path:
    """Copy a directory out of a disk that no machine uses; its journal is replayed first."""
    subprocess.run(["e2fsck", "-p", str(image)], capture_output=True)
    to.mkdir(exist_ok=True)
    subprocess.run(["debugfs", "-R", f"rdump {inside} {to}", str(image)], capture_output=True, check=True)
    return to / Path(inside).name
