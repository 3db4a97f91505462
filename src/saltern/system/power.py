"""The machine's own words for going down, and what it says of a shutdown that is scheduled."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import Struct

SYSTEMD = "run/systemd/system"
SCHEDULED = "run/systemd/shutdown/scheduled"  # as systemd keeps it
WAITING = ("run/shutdown.pid", "var/run/shutdown.pid")  # as sysvinit does: the process that waits
COMES_BACK = frozenset({"reboot", "kexec", "soft-reboot"})
FORCED = ("reboot", "-f")  # systemd's, sysvinit's and busybox's alike: nothing is stopped before
RUNLEVELS = ("0", "1", "2", "3", "4", "5", "6", "s", "S")
MODES = {"-r": "reboot", "--reboot": "reboot", "-H": "halt", "--halt": "halt"}  # else it switches off


class Pending(Struct, frozen=True, kw_only=True):
    """A shutdown that is scheduled, by whomever. ``at``: seconds since 1970; None: nobody says."""

    mode: str
    at: float | None = None

    @property
    def comes_back(self) -> bool:
        return self.mode in COMES_BACK

    def __str__(self) -> str:
        if self.at is None:
            return f"a {self.mode} is scheduled"
        import time

        when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(self.at))
        return f"a {self.mode} is scheduled for {when} UTC"


def pending(root: str = "/") -> Pending | None:
    return _of_systemd(os.path.join(root, SCHEDULED)) or _of_sysvinit(root)


def reboot_command(notice: float, root: str = "/") -> tuple[str, ...]:
    """``shutdown`` counts in minutes. Raises ``OSError`` if nothing here can do it."""
    if notice <= 0 and os.path.isdir(os.path.join(root, SYSTEMD)):
        return ("systemctl", "reboot")
    if has("shutdown"):
        return ("shutdown", "-r", f"+{max(1, round(notice / 60))}" if notice > 0 else "now")
    if notice > 0:
        raise OSError("no `shutdown` is here, so no notice can be given: leave it out, or set reboot_command")
    return ("reboot",)


def power_command(word: str, at: object = None) -> tuple[str, ...]:
    """Of ``reboot`` and ``shutdown``, which have a time, and ``init``, which has a runlevel.

    ``halt`` and ``poweroff`` are at once. Raises ``ValueError`` for what is no time, or no runlevel.
    """
    flags = {"reboot": "-r", "shutdown": "-h"}
    if word == "init":
        if str(at) not in RUNLEVELS:
            raise ValueError(f"a runlevel is one of {', '.join(RUNLEVELS)}, not {at!r}")
        return ("init", str(at))
    if word in flags and (at is not None or has("shutdown")):
        return ("shutdown", flags[word], clock_time(at))
    return ("poweroff" if word == "shutdown" else word,)


def clock_time(at: object) -> str:
    """As ``shutdown`` reads it. A number is minutes. Raises ``ValueError`` for what is no time."""
    import re

    text = "now" if at is None else str(at)
    if not re.fullmatch(r"now|\+?\d+|[0-2]?\d:[0-5]\d", text):
        raise ValueError(f"a time is 'now', minutes such as +5, or a time of day such as 23:30, not {at!r}")
    return f"+{text}" if text.isdigit() else text


def has(name: str) -> bool:
    import shutil

    return shutil.which(name) is not None


def told(command: Sequence[str]) -> str:
    """Run it; what it said. Raises ``OSError`` if it did not succeed."""
    import subprocess

    done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return (done.stdout + done.stderr).strip()


def _of_systemd(path: str) -> Pending | None:
    lines = [line.partition("=") for line in _text(path).splitlines()]
    said = {name: value for name, _, value in lines}
    if not said.get("MODE"):
        return None
    moment = said.get("USEC", "")
    return Pending(mode=said["MODE"], at=int(moment) / 1_000_000 if moment.isdigit() else None)


def _of_sysvinit(root: str) -> Pending | None:
    """A file whose process is gone says nothing."""
    for name in WAITING:
        number = _text(os.path.join(root, name)).strip()
        words = _text(os.path.join(root, "proc", number, "cmdline")).split("\0") if number.isdigit() else [""]
        if os.path.basename(words[0]) == "shutdown":
            return Pending(mode=next((MODES[word] for word in words if word in MODES), "poweroff"))
    return None


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
