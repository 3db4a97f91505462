"""The seam to the machine's power button: which boot this is, and how the next one is asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol

from saltern.system.boot import boot_identity


class Rebooter(Protocol):
    """What a reboot needs of the machine."""

    def identity(self) -> dict[str, str]:
        """Which boot it is; ``boot.has_rebooted`` compares two of them."""
        ...

    def arm(self, notice: float = 0.0) -> None:
        """Ask for a reboot, ``notice`` seconds from now. Raises ``OSError`` if that cannot even be asked."""
        ...

    def tick(self) -> float:
        """Seconds of this boot, those that it slept included."""
        ...

    def wait(self, seconds: float) -> None:
        """To go down ends the process that waits."""
        ...


class MachineRebooter:
    """This machine. ``command`` replaces the machine's own, ``root`` is where ``/proc`` and ``/run`` are."""

    def __init__(self, command: Sequence[str] = (), root: str = "/") -> None:
        self._command = tuple(command)
        self._root = root

    def identity(self) -> dict[str, str]:
        return boot_identity(self._root)

    def arm(self, notice: float = 0.0) -> None:
        import subprocess

        os.sync()
        command = self._command or own_command(notice)
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if done.returncode:
            raise OSError(f"{' '.join(command)}: {done.stderr.strip() or f'exit code {done.returncode}'}")

    def tick(self) -> float:
        import time

        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def wait(self, seconds: float) -> None:
        import time

        time.sleep(seconds)


_current: Rebooter | None = None


def current(command: Sequence[str] = ()) -> Rebooter:
    """The machine that runs are on. ``command`` replaces its own to reboot, where the user has set one."""
    return _current or MachineRebooter(command)


def use(instead: Rebooter | None) -> None:
    """For tests and for those who carry runs to other places: another machine than this one."""
    global _current
    _current = instead


def own_command(notice: float) -> tuple[str, ...]:
    """``shutdown`` counts in minutes; systemd's own command goes at once."""
    if notice <= 0 and os.path.isdir("/run/systemd/system"):
        return ("systemctl", "reboot")
    return ("shutdown", "-r", f"+{round(notice / 60)}" if notice > 0 else "now")
