"""The seam to the machine's power switch: the identity of this boot, requests and cancels of reboots."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from saltern.system.boot import boot_identity

if TYPE_CHECKING:
    from typing import Protocol

    from saltern.system.power import Pending
else:
    Protocol = object  # importing the real one costs as much as a module

GOES_DOWN = "nothing is scheduled, so the machine may be going down already"
OWN_WAY = "reboot_command is set, but reboot_cancel_command is not: set it in the configuration"


class Commands(Protocol):
    """Commands that a user may set in place of the machine's programs; empty: those of the machine."""

    @property
    def reboot_command(self) -> Sequence[str]: ...
    @property
    def reboot_cancel_command(self) -> Sequence[str]: ...
    @property
    def poweroff_command(self) -> Sequence[str]: ...


class Rebooter(Protocol):
    """The operations of a machine that a reboot needs."""

    def identity(self) -> dict[str, str]:
        """The identity of this boot; ``boot.has_rebooted`` compares two of them."""

    def arm(self, notice: float = 0.0, *, force: bool = False) -> None:
        """Request a reboot, ``notice`` seconds from now; with ``force``, without an orderly shutdown.

        Raises ``OSError`` if the request fails.
        """

    def pending_shutdown(self) -> Pending | None:
        """The shutdown that any program has scheduled."""

    def cancel(self) -> str:
        """Cancel a scheduled shutdown. Returns why that is not possible; empty on success."""

    def power(self, word: str, at: object = None) -> str:
        """Do what the execution function of that name does, and return the output.

        Raises ``OSError`` if it cannot be done, ``ValueError`` if ``at`` is not a time.
        """

    def tick(self) -> float:
        """Seconds since the boot, including those of sleep."""

    def wait(self, seconds: float) -> None:
        """Wait; if the machine goes down, this process ends."""


class MachineRebooter:
    """This machine. ``command``, ``cancel`` and ``off`` replace its programs; ``root`` contains ``/run``."""

    def __init__(
        self,
        command: Sequence[str] = (),
        cancel: Sequence[str] = (),
        root: str = "/",
        *,
        off: Sequence[str] = (),
    ) -> None:
        self._command = tuple(command)
        self._cancel = tuple(cancel)
        self._off = tuple(off)
        self._root = root

    def identity(self) -> dict[str, str]:
        return boot_identity(self._root)

    def arm(self, notice: float = 0.0, *, force: bool = False) -> None:
        from saltern.system.power import FORCED, press, reboot_command, with_time

        os.sync()
        when = f"+{max(1, round(notice / 60))}" if notice > 0 else "now"
        own = FORCED if force else ()
        press(with_time(self._command, when) or own or reboot_command(notice, self._root))

    def pending_shutdown(self) -> Pending | None:
        from saltern.system.power import pending_shutdown

        return pending_shutdown(self._root)

    def cancel(self) -> str:
        if self._command and not self._cancel:
            return OWN_WAY
        if not self._cancel and self.pending_shutdown() is None:
            return GOES_DOWN
        from saltern.system.power import press

        try:
            press(self._cancel or ("shutdown", "-c"))
        except OSError as problem:
            return str(problem)
        return "" if self.pending_shutdown() is None else "it is still scheduled"

    def power(self, word: str, at: object = None) -> str:
        from saltern.system.power import clock_time, kind_of, power_command, press, with_time

        own = power_command(word, at)
        given = {"reboot": self._command, "poweroff": self._off}.get(kind_of(word, at), ())
        os.sync()
        return press(with_time(given, "now" if word == "init" else clock_time(at)) or own)

    def tick(self) -> float:
        import time

        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def wait(self, seconds: float) -> None:
        import time

        time.sleep(seconds)


_current: Rebooter | None = None  # for the whole process: it is the machine that the process runs on


def current(settings: Commands | None = None) -> Rebooter:
    """The machine that runs use, with the commands that the user has set in place of its programs."""
    if _current or settings is None:
        return _current or MachineRebooter()
    return MachineRebooter(
        settings.reboot_command, settings.reboot_cancel_command, off=settings.poweroff_command
    )


def is_real() -> bool:
    """True if runs use this machine, and no substitute."""
    return _current is None


def use(instead: Rebooter | None) -> None:
    """Use another machine than this one: for tests, and for runs that are moved elsewhere."""
    global _current
    _current = instead
