"""The only access to the machine's power switch: its programs, and the shutdown that is scheduled.

Nothing else in saltern starts such a program; ``tests/unit/system/test_power_door.py`` checks that. With
``SALTERN_POWER=refuse`` in the environment, as in all tests, not even this module starts one: only a
configured command that is not such a program.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import Struct

from saltern.system.boot import text_of

SYSTEMD = "run/systemd/system"
SCHEDULED = "run/systemd/shutdown/scheduled"  # in the form of systemd
WAITING = ("run/shutdown.pid", "var/run/shutdown.pid")  # in the form of sysvinit: the process that waits
COMES_BACK = frozenset({"reboot", "kexec", "soft-reboot"})
FORCED = ("reboot", "-f")  # the same for systemd, sysvinit and busybox: nothing is stopped before
RUNLEVELS = ("0", "1", "2", "3", "4", "5", "6", "s", "S")
PROGRAMS = frozenset({"shutdown", "reboot", "halt", "poweroff", "init", "telinit", "kexec", "rebootmgrctl"})
# With an argument for going down, they are programs of this kind, too.
UNITS = frozenset({"systemctl", "loginctl"})
WORDS = frozenset({"reboot", "halt", "poweroff", "kexec", "soft-reboot", "rescue", "emergency", "isolate"})
KINDS = {"reboot": "reboot", "shutdown": "poweroff", "poweroff": "poweroff", "halt": "poweroff"}
WRAPPERS = frozenset({"sudo", "doas", "env", "nohup", "nice", "setsid", "timeout", "busybox", "systemd-run"})
SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})
LEVELS = {"6": "reboot", "0": "poweroff"}  # the meaning of two runlevels
TIME = "{time}"  # in a configured command: when
MODES = {"-r": "reboot", "--reboot": "reboot", "-H": "halt", "--halt": "halt"}  # otherwise it powers off


class Pending(Struct, frozen=True, kw_only=True):
    """A shutdown that any program has scheduled. ``at``: seconds since 1970; None if unknown."""

    mode: str
    at: float | None = None

    @property
    def comes_back(self) -> bool:
        return self.mode in COMES_BACK

    def __str__(self) -> str:
        if self.at is None:
            return f"a {self.mode} is scheduled"
        from saltern.system.clock import stamp

        return f"a {self.mode} is scheduled for {stamp(self.at)} UTC"


def pending_shutdown(root: str = "/") -> Pending | None:
    return _of_systemd(os.path.join(root, SCHEDULED)) or _of_sysvinit(root)


def reboot_command(notice: float, root: str = "/") -> tuple[str, ...]:
    """The command for a reboot; ``shutdown`` counts in minutes. Raises ``OSError`` if there is none."""
    if notice <= 0 and os.path.isdir(os.path.join(root, SYSTEMD)):
        return ("systemctl", "reboot")
    if has("shutdown"):
        return ("shutdown", "-r", f"+{max(1, round(notice / 60))}" if notice > 0 else "now")
    if notice > 0:
        raise OSError("no `shutdown` is here, so no notice can be given: leave it out, or set reboot_command")
    return ("reboot",)


def kind_of(word: str, at: object = None) -> str:
    """The configured command for a function: ``reboot`` or ``poweroff``; empty if neither."""
    return LEVELS.get(str(at), "") if word == "init" else KINDS[word]


def with_time(command: Sequence[str], when: str) -> tuple[str, ...]:
    """A configured command, with the time in place of its placeholder."""
    return tuple(word.replace(TIME, when) for word in command)


def is_power_program(command: Sequence[str]) -> bool:
    """True if a command takes the machine down, by the names of programs and their arguments."""
    program = os.path.basename(command[0])
    if program in UNITS:
        return any(word.partition(".")[0] in WORDS for word in command[1:])
    if program in WRAPPERS or program in SHELLS:
        words = [part for word in command[1:] for part in word.replace(";", " ").replace("&", " ").split()]
        return any(is_power_program(words[at:]) for at in range(len(words)))
    if program == "init":
        return any(word in RUNLEVELS for word in command[1:])
    return program in PROGRAMS


def power_command(word: str, at: object = None) -> tuple[str, ...]:
    """The command for ``reboot`` and ``shutdown``, which have a time, for ``init``, which has a runlevel, or
    for ``halt`` and ``poweroff``, which act at once.

    Raises ``ValueError`` for an invalid time or runlevel.
    """
    flags = {"reboot": "-r", "shutdown": "-h"}
    if word == "init":
        if str(at) not in RUNLEVELS:
            raise ValueError(f"a runlevel must be one of {', '.join(RUNLEVELS)}, not {at!r}")
        return ("init", str(at))
    if word in flags and (at is not None or has("shutdown")):
        return ("shutdown", flags[word], clock_time(at))
    return ("poweroff" if word == "shutdown" else word,)


def clock_time(at: object) -> str:
    """The time in the form of ``shutdown``; a number means minutes. Raises ``ValueError`` for an invalid
    time.
    """
    import re

    text = "now" if at is None else str(at)
    if not re.fullmatch(r"now|\+?\d+|[0-2]?\d:[0-5]\d", text):
        raise ValueError(
            f"a time must be 'now', minutes such as +5, or a time of day such as 23:30, not {at!r}"
        )
    return f"+{text}" if text.isdigit() else text


def has(name: str) -> bool:
    import shutil

    return shutil.which(name) is not None


def press(command: Sequence[str]) -> str:
    """Run a command, and return its output. Raises ``OSError`` if it fails or may not be run here."""
    import subprocess

    if os.environ.get("SALTERN_POWER") == "refuse" and is_power_program(command):
        raise OSError(f"{' '.join(command)}: refused, since SALTERN_POWER=refuse is set")
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return (done.stdout + done.stderr).strip()


def _of_systemd(path: str) -> Pending | None:
    lines = [line.partition("=") for line in text_of(path).splitlines()]
    said = {name: value for name, _, value in lines}
    if not said.get("MODE"):
        return None
    moment = said.get("USEC", "")
    return Pending(mode=said["MODE"], at=int(moment) / 1_000_000 if moment.isdigit() else None)


def _of_sysvinit(root: str) -> Pending | None:
    """The shutdown that sysvinit has scheduled; a file whose process is gone is ignored."""
    for name in WAITING:
        number = text_of(os.path.join(root, name)).strip()
        words = (
            text_of(os.path.join(root, "proc", number, "cmdline")).split("\0") if number.isdigit() else [""]
        )
        if os.path.basename(words[0]) == "shutdown":
            return Pending(mode=next((MODES[word] for word in words if word in MODES), "poweroff"))
    return None
