"""What says that this machine must be rebooted. Each witness gives reasons, for people."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from saltern.modules.api.context import Context
from saltern.modules.api.programs import PLAIN_WORDS, has
from saltern.system.snapshots import snapshots_state

FLAGS = ("/run/reboot-required", "/run/reboot-needed")  # Debian and Ubuntu; SUSE
PACKAGES = "/run/reboot-required.pkgs"
KERNEL = re.compile(r"(?:vmlinuz|vmlinux|kernel|Image)-(\d.*)")
LIBRARY = re.compile(r"^(?:\S+\s+){5}(/\S+\.so\S*) \(deleted\)$", re.MULTILINE)


def reasons(ctx: Context) -> list[str]:
    """Why a reboot is due; empty if it is not."""
    return [reason for witness in WITNESSES for reason in witness(ctx)]


def _flags(ctx: Context) -> list[str]:
    found = [flag for flag in FLAGS if ctx.host.exists(flag)]
    if not found:
        return []
    asking = (ctx.host.read(PACKAGES) or "").split()
    names = f" (asked for by {', '.join(sorted(set(asking)))})" if asking else ""
    return [f"{flag} is there{names}" for flag in found]


def old_kernel(_ctx: Context) -> list[str]:
    """A newer one is installed than is running: a machine that has just booted has booted the wrong one."""
    running = os.uname().release
    newest = newer_kernel(running, os.listdir("/boot") if os.path.isdir("/boot") else [])
    return [f"kernel {newest} is installed, and {running} is running"] if newest else []


def newer_kernel(running: str, files: list[str]) -> str | None:
    """The newest kernel among ``files`` of the same flavour as that which is ``running``, if it is newer.

    A machine whose kernel is not among them gets it from elsewhere, and no reboot would change it.
    """
    found = [match[1] for match in map(KERNEL.fullmatch, files) if match]
    flavour = _flavour(running)
    alike = [one for one in found if _flavour(one) == flavour]
    if running not in found:
        return None
    newest = max(alike, key=_rank)
    return newest if _rank(newest) > _rank(running) else None


def _flavour(release: str) -> str:
    """What follows the numbers, such as ``generic`` or ``amd64``; a release of the system is no flavour."""
    return re.sub(r"^[\d.]+(?:-[\d.]+)?[-.]?|(?<=el|fc)\d+(?:_\d+)?", "", release)


def _rank(release: str) -> list[tuple[bool, int, str]]:
    parts = re.findall(r"\d+|[A-Za-z]+", release)
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def _first_process(_ctx: Context) -> list[str]:
    """Process 1 cannot be restarted without a reboot, save by itself."""
    try:
        with open("/proc/1/maps", encoding="utf-8", errors="replace") as file:
            gone = sorted({match[1] for match in LIBRARY.finditer(file.read())})
    except OSError:  # not ours to read
        return []
    return [f"process 1 uses {', '.join(gone[:3])}, replaced since it started"] if gone else []


def _tool(ctx: Context) -> list[str]:
    """What the package tools of Red Hat and its like know."""
    if not has("needs-restarting"):
        return []
    ran = ctx.host.run(["needs-restarting", "-r"], env=PLAIN_WORDS)
    said = (
        ran.code == 1 and "reboot is required" in ran.out.lower()
    )  # 1 is also the code of a mistake of dnf's
    return ["needs-restarting says so"] if said else []


def waiting_snapshot(_ctx: Context) -> list[str]:
    """A machine with transactional updates runs one snapshot, and the next boot takes another."""
    booted, following = snapshots_state()
    return [f"snapshot {following} waits for a boot"] if booted != following else []


WITNESSES: tuple[Callable[[Context], list[str]], ...] = (
    _flags,
    old_kernel,
    _first_process,
    _tool,
    waiting_snapshot,
)
