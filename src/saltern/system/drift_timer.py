"""Installs a systemd timer, or a line for cron, that compares a machine with its states regularly."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from saltern.system.services import Piece, below, put, reload_units, shell_word, unit_word

NAME = "saltern-drift"
UNITS = "/etc/systemd/system"
CRON = f"/etc/cron.d/{NAME}"
PLACES = (
    f"{UNITS}/{NAME}.service",
    f"{UNITS}/{NAME}.timer",
    f"{UNITS}/timers.target.wants/{NAME}.timer",
    CRON,
)
EVERY = ("hourly", "daily", "weekly")  # values that both systemd and cron understand

SERVICE = """\
[Unit]
Description=Compare this machine with its saltern states
After=network-online.target

[Service]
Type=oneshot
# It ends with 4 where something is different, which counts as a failure: `systemctl --failed` lists it.
ExecStart={command}
"""
TIMER = """\
[Unit]
Description=Compare this machine with its saltern states, {when}

[Timer]
OnCalendar={when}
RandomizedDelaySec=10min
Persistent=true

[Install]
WantedBy=timers.target
"""


def install(root: str, when: str, *, sls: Sequence[str] = (), config: str = "") -> list[str]:
    """Write the missing files below ``root``; return them. Raises ``ValueError`` for an invalid ``when``."""
    written = [piece.place for piece in pieces(root, when, sls=sls, config=config) if put(root, piece)]
    if written and root == "/" and os.path.isdir("/run/systemd/system"):
        reload_units()
        subprocess.run(["systemctl", "start", f"{NAME}.timer"], check=False)
    return written


def pieces(root: str, when: str, *, sls: Sequence[str] = (), config: str = "") -> list[Piece]:
    words = [sys.executable, "-P", "-m", "saltern", "drift", *sls, *(["--config", config] if config else [])]
    if has_systemd(root):
        check_calendar(when)
        command = " ".join(map(unit_word, words))
        return [
            Piece(PLACES[0], SERVICE.format(command=command)),
            Piece(PLACES[1], TIMER.format(when=when)),
            Piece(PLACES[2], target=PLACES[1]),
        ]
    if when not in EVERY:
        raise ValueError(f"cron needs one of {', '.join(EVERY)}, not {when!r}")
    command = " ".join(map(shell_word, words)).replace("%", r"\%")
    return [Piece(CRON, f"# Compare this machine with its saltern states.\n@{when} root {command}\n")]


def has_systemd(root: str) -> bool:
    """True if systemd is installed below that root."""
    places = ("lib/systemd/systemd", "usr/lib/systemd/systemd")
    return any(os.path.exists(below(root, place)) for place in places)


def check_calendar(when: str) -> None:
    """Raise ``ValueError`` for an invalid calendar expression; systemd is asked if it is there."""
    if when in EVERY:
        return
    if "\n" in when or not when.isprintable():
        raise ValueError("a calendar expression is one line of text")
    program = shutil.which("systemd-analyze")
    if program:
        done = subprocess.run([program, "calendar", "--", when], capture_output=True, text=True, check=False)
        if done.returncode:
            raise ValueError(f"systemd knows no calendar expression {when!r}")


def remove(root: str) -> list[str]:
    """Remove the files of ``install``; return those that existed."""
    found = [place for place in PLACES if os.path.lexists(below(root, place))]
    for place in found:
        os.remove(below(root, place))
    if found and root == "/":
        reload_units()
    return found
