"""The seam to the machine's power button: which boot this is, how the next is asked for and called off."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from saltern.system.boot import boot_identity

if TYPE_CHECKING:
    from typing import Protocol

    from saltern.system.power import Pending
else:
    Protocol = object  # the real one costs as much as a module

GOES_DOWN = "nothing is scheduled, so the machine may be going down already"
OWN_WAY = "reboot_command has a way of its own; reboot_cancel_command in the configuration would say how"


class Commands(Protocol):
    """Commands that a user may set in place of the machine's programs; empty: the machine's."""

    @property
    def reboot_command(self) -> Sequence[str]: ...
    @property
    def reboot_cancel_command(self) -> Sequence[str]: ...
    @property
    def poweroff_command(self) -> Sequence[str]: ...


class Rebooter(Protocol):
    """The functions of the machine that a reboot needs."""

    def identity(self) -> dict[str, str]:
        """The identity of this boot; ``boot.has_rebooted`` compares two of them."""

    def arm(self, notice: float = 0.0, *, force: bool = False) -> None:
        """Ask for a reboot, ``notice`` seconds from now; with ``force``, end nothing in order.

        Raises ``OSError`` if that cannot even be asked.
        """

    def pending_shutdown(self) -> Pending | None:
        """A shutdown that is scheduled, by any program."""

    def cancel(self) -> str:
        """Take back a shutdown that is scheduled. Empty: it is; else why it cannot be."""

    def power(self, word: str, at: object = None) -> str:
        """Do what an execution function of that name does; what the machine says to it.

        Raises ``OSError`` if it cannot be done, ``ValueError`` if ``at`` is no time.
        """

    def tick(self) -> float:
        """Seconds of this boot, those that it slept included."""

    def wait(self, seconds: float) -> None:
        """Wait; if the machine goes down, that ends this process."""


class MachineRebooter:
    """This machine. ``command``, ``cancel`` and ``off`` replace its own, ``root`` is where ``/run`` is."""

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
        return "" if self.pending_shutdown() is None else "it is scheduled all the same"

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


_current: Rebooter | None = None  # for the whole process: it stands for the machine that the process is on


def current(settings: Commands | None = None) -> Rebooter:
    """The machine that runs are on, with what the user has set in place of its own programs."""
    if _current or settings is None:
        return _current or MachineRebooter()
    return MachineRebooter(
        settings.reboot_command, settings.reboot_cancel_command, off=settings.poweroff_command
    )


def is_real() -> bool:
    """True if runs are on this machine, and no other stands for it."""
    return _current is None


def use(instead: Rebooter | None) -> None:
    """For tests and for those who carry runs to other places: another machine than this one."""
    global _current
    _current = instead
