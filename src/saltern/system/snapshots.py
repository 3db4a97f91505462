"""The seam to snapshots of the root: the running one, the one that the next boot uses, and a new one to work
in.

A snapshot is named by the path of its subvolume. Work in a new one has no effect on the running system: if it
is interrupted, the snapshot is dropped, and nothing has changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from saltern.system.boot import text_of

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # importing the real one costs as much as a module

PLACE = "/run/saltern/snapshot"  # mount point, in the namespace of the one command that needs it
FOLDER = ".snapshots"
FORCED = re.compile(r"\brootflags=\S*\bsubvol")
GENERATION = re.compile(r"^\s*(Generation|Gen at creation):\s*(\d+)", re.MULTILINE)

MARK = "SALTERN_IN_SNAPSHOT"  # in the environment of a saltern process whose root is a snapshot

# Each is run in its own mount namespace: its mounts vanish when it ends.
TOP = 'set -e; mount -t btrfs -o subvolid=5,noatime "$1" "$2"; cd "$2"; '
MAKE = TOP + 'mkdir -p "$(dirname "$4")"; btrfs -q subvolume snapshot "./$3" "./$4"'
SHOW = TOP + 'btrfs filesystem sync . >&2; btrfs subvolume show "./$3"'
USE = TOP + (
    'if [ "$(btrfs property get -ts "./$4" ro)" = ro=true ]; then btrfs property set -ts "./$3" ro true; fi; '
    'btrfs filesystem sync . >&2; btrfs subvolume set-default "./$3"; btrfs filesystem sync . >&2'
)
REMOVE = (
    TOP + 'if [ -e "./$3" ]; then btrfs -q subvolume delete -c "./$3"; fi; rmdir "$(dirname "./$3")" || true'
)
INSIDE = (
    'set -e; device=$1 place=$2 root=$4; mount -t btrfs -o "noatime,subvol=$3" "$device" "$place"; shift 4; '
    'while [ "$1" != -- ]; do if [ -e "$place$1" ]; then mount --bind "$root$1" "$place$1"; fi; shift; done; '
    'shift; exec chroot "$place" "$@"'
)


class Snapshots(Protocol):
    """The operations of a machine that transactions need. Each raises ``OSError`` if it cannot be done.
    ``tool`` is the program that is used.
    """

    tool: str

    def booted_snapshot(self) -> str:
        """The running snapshot; empty if the root is not one."""

    def next(self) -> str:
        """The snapshot that the next boot uses; empty if boots do not depend on snapshots."""

    def open(self, name: str) -> str:
        """Create a snapshot of the next boot's one; an unused one with the same name is replaced."""

    def inside(self, snapshot: str, words: Sequence[str]) -> list[str]:
        """The command line that runs a command with this snapshot as its root."""

    def is_changed(self, snapshot: str) -> bool:
        """True if it differs from the snapshot that it was made from."""

    def close(self, snapshot: str) -> None:
        """Make the next boot use the snapshot."""

    def drop(self, snapshot: str) -> None:
        """Remove the snapshot, if it exists."""

    def holds(self, path: str) -> bool:
        """True if a path is in the running snapshot, so that others do not share it."""


class Btrfs:
    """A root that is a subvolume of btrfs, on a machine that boots the default subvolume."""

    tool = "btrfs"

    def __init__(self, root: str = "/") -> None:
        self._root = root.rstrip("/")

    def booted_snapshot(self) -> str:
        kind, path, _ = self._mounted_root()
        return path.lstrip("/") if kind == "btrfs" else ""

    def next(self) -> str:
        if not self.booted_snapshot() or (not self._root and FORCED.search(text_of("/proc/cmdline"))):
            return ""
        said = _output("btrfs", "subvolume", "get-default", self._root or "/")
        return said.partition(" path ")[2].strip()

    def open(self, name: str) -> str:
        base = self.next()
        if not base:
            raise OSError("the root of this machine is not the default subvolume of a btrfs file system")
        before, found, _ = base.partition(f"{FOLDER}/")
        path = f"{before if found else ''}{FOLDER}/{name}/snapshot"
        if path in (base, self.booted_snapshot()):
            raise OSError(f"snapshot {path} is in use")
        self.drop(path)
        self._script(MAKE, base, path)
        return path

    def inside(self, snapshot: str, words: Sequence[str]) -> list[str]:
        _, _, device = self._mounted_root()
        os.makedirs(PLACE, mode=0o700, exist_ok=True)
        others = _mount_points(self._root)
        script = ["unshare", "--mount", "sh", "-c", INSIDE, "sh", device, PLACE, snapshot, self._root]
        return [*script, *others, "--", *words]

    def is_changed(self, snapshot: str) -> bool:
        found = dict(GENERATION.findall(self._script(SHOW, snapshot)))
        return found.get("Generation") != found.get("Gen at creation")

    def close(self, snapshot: str) -> None:
        self._script(USE, snapshot, self.next())

    def drop(self, snapshot: str) -> None:
        self._script(REMOVE, snapshot)

    def holds(self, path: str) -> bool:
        while not os.path.exists(path):
            path = os.path.dirname(path) or "/"
        return os.stat(path).st_dev == os.stat(self._root or "/").st_dev  # each subvolume has its own

    def _mounted_root(self) -> tuple[str, str, str]:
        """Kind, path of the subvolume and device of the root."""
        found = ("", "", "")
        for point, path, kind, device in _mounts():
            if point == (self._root or "/"):  # later mounts are on top
                found = (kind, path, device)
        return found

    def _script(self, script: str, *words: str) -> str:
        _, _, device = self._mounted_root()
        os.makedirs(PLACE, mode=0o700, exist_ok=True)
        return _output("unshare", "--mount", "sh", "-c", script, "sh", device, PLACE, *words)


class Tukit(Btrfs):
    """The same with ``tukit``, which transactional-update uses: it updates snapper and the boot loader. It
    numbers snapshots itself, so a name is only their description.
    """

    tool = "tukit"

    def open(self, name: str) -> str:
        said = _output("tukit", f"-c{_number(self.next())}", "--description", f"saltern {name}", "open")
        found = re.search(r"ID: (\d+)", said)
        if found is None:
            raise OSError(f"tukit does not report which snapshot it has opened: {said.strip()}")
        before, _, _ = self.next().partition(f"{FOLDER}/")
        return f"{before}{FOLDER}/{found[1]}/snapshot"

    def inside(self, snapshot: str, words: Sequence[str]) -> list[str]:
        return ["tukit", "call", _number(snapshot), *words]

    def close(self, snapshot: str) -> None:
        _output("tukit", "close", _number(snapshot))

    def drop(self, snapshot: str) -> None:
        _output("tukit", "abort", _number(snapshot))


def _number(snapshot: str) -> str:
    found = re.search(rf"{re.escape(FOLDER)}/(\d+)/snapshot$", snapshot)
    if found is None:
        raise OSError(f"{snapshot or 'the root'} is not a snapshot of snapper")
    return found[1]


def _mounts() -> list[tuple[str, str, str, str]]:
    """Mount point, path within the file system, its kind and its device, in the order in which they were
    mounted."""
    found = []
    for line in text_of("/proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        own, kind = before.split(), after.split()
        point, path = (one.encode().decode("unicode_escape") for one in (own[4], own[3]))
        found.append((point, path, kind[0], kind[1]))
    return found


def _mount_points(root: str) -> list[str]:
    """The mount points below a root, relative to it, without the directory of the snapshots."""
    points = [point[len(root) :] for point, *_ in _mounts() if point.startswith(f"{root}/")]
    skipped = (f"/{FOLDER}", PLACE)
    return [one for one in dict.fromkeys(points) if one not in ("/", *skipped) and one != "--"]


def _output(*words: str) -> str:
    import subprocess

    ran = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    if ran.returncode:
        lines = ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"]
        raise OSError(f"{words[0]}: {lines[-1]}")
    return ran.stdout


_current: Snapshots | None = None


def current() -> Snapshots:
    """The snapshots of the machine that runs use."""
    from shutil import which

    return _current or (Tukit() if which("tukit") else Btrfs())


def use(instead: Snapshots | None) -> None:
    """Use the snapshots of another root than this machine's, for tests."""
    global _current
    _current = instead


def is_inside() -> bool:
    """True if the root of this process is a snapshot that is not booted yet."""
    return MARK in os.environ


def snapshots_state(which: Snapshots | None = None) -> tuple[str, str]:
    """The running snapshot and that of the next boot; both empty if boots do not depend on snapshots, or if
    they are unknown.
    """
    try:
        found = which or current()
        following = found.next()
        return (found.booted_snapshot(), following) if following else ("", "")
    except OSError:
        return "", ""
