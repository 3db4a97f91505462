"""Which package this program belongs to, so that a change of that package is recognised by any name."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import saltern
from saltern.system import own_program
from saltern.system.process import run

# The package manager's own answer to "whose is this file?"; the last word of its first line is a name.
ASKED: tuple[tuple[str, ...], ...] = (
    ("dpkg-query", "--search"),
    ("rpm", "--query", "--file", "--queryformat", "%{NAME}\\n"),
    ("pacman", "--query", "--owns", "--quiet"),
    ("apk", "info", "--who-owns", "--quiet"),
)


def owner(path: str = "") -> str:
    """The name of the package that has this file, by default our own; empty if none has."""
    asked = os.path.realpath(path or saltern.__file__)
    for argv in ASKED:
        ran = run([*argv, asked], env={"LC_ALL": "C"}, timeout=30)
        if ran.code == 0 and ran.out.strip():
            first = ran.out.splitlines()[0]
            return first.rpartition(": ")[0].partition(",")[0].partition(":")[0] or first.strip()
    return ""


def stamp() -> str:
    """What this program's code is, on disk: another one after it was replaced."""
    try:
        found = os.stat(saltern.__file__)
    except OSError:
        return "gone"
    return f"{found.st_ino} {found.st_mtime_ns} {found.st_size}"


def begin_anew(leg: str, again: Sequence[str]) -> NoReturn:
    """Replace this process by one with the code that is there now, which continues the leg."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    words = own_program.command("saltern", ("chain", "resume", leg, *again))
    os.execve(sys.executable, words, own_program.environment())
