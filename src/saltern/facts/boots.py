"""When this machine booted, and whether files say that it must boot again."""

from __future__ import annotations

import os

from saltern.config.settings import Settings
from saltern.facts import probe
from saltern.system.boot import process_start


def last(_: Settings) -> dict[str, object]:
    """``booted_at``: when process 1 began, in seconds since 1970; that of a container is its own."""
    return {"booted_at": boot_time(probe.read("/proc/stat"), process_start(1), os.sysconf("SC_CLK_TCK"))}


def boot_time(stat: str, ticks: str, each: int) -> int | None:
    """The start of the kernel, and what process 1 began later; None if that is not known."""
    found = next((line.split()[1] for line in stat.splitlines() if line.startswith("btime ")), "")
    return int(found) + int(ticks or 0) // each if found else None


def due(_: Settings) -> dict[str, object]:
    """``reboot_due`` and why: what can be read without running anything."""
    from saltern.system import reboot_due as files
    from saltern.system.snapshots import snapshots_state

    flags = [flag for flag in files.FLAGS if os.path.exists(flag)]
    running = os.uname().release
    reasons = [
        *files.flag_reasons(flags, probe.read(files.PACKAGES)),
        *files.kernel_reasons(running, files.newer_kernel(running, probe.names("/boot"))),
        *files.library_reasons(probe.read("/proc/1/maps")),
        *files.snapshot_reasons(*snapshots_state()),
    ]
    return {"reboot_due": bool(reasons), "reboot_reasons": reasons}
