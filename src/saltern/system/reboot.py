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


def own_command(notice: float) -> tuple[str, ...]:
    """``shutdown`` counts in minutes; systemd's own command goes at once."""
    if notice <= 0 and os.path.isdir("/run/systemd/system"):
        return ("systemctl", "reboot")
    return ("shutdown", "-r", f"+{round(notice / 60)}" if notice > 0 else "now")
