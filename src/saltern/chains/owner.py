"""Finds the package that this program belongs to, to recognise changes of that package."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import saltern
from saltern.system import own_program
from saltern.system.process import run

# Commands that print the package of a file; its name is the last word of the first line.
ASKED: tuple[tuple[str, ...], ...] = (
    ("dpkg-query", "--search"),
    ("rpm", "--query", "--file", "--queryformat", "%{NAME}\\n"),
    ("pacman", "--query", "--owns", "--quiet"),
    ("apk", "info", "--who-owns", "--quiet"),
)


def owner(path: str = "") -> str:
    """The name of the package that contains a file, by default this program; empty if there is none."""
    asked = os.path.realpath(path or saltern.__file__)
    for argv in ASKED:
        ran = run([*argv, asked], env={"LC_ALL": "C"}, timeout=30)
        if ran.code == 0 and ran.out.strip():
            first = ran.out.splitlines()[0]
            return first.rpartition(": ")[0].partition(",")[0].partition(":")[0] or first.strip()
    return ""


def stamp() -> str:
    """A text that identifies this program's code on disk; it changes when the program is replaced."""
    try:
        found = os.stat(saltern.__file__)
    except OSError:
        return "gone"
    return f"{found.st_ino} {found.st_mtime_ns} {found.st_size}"


def begin_anew(leg: str, again: Sequence[str]) -> NoReturn:
    """Replace this process with one that runs the code now on disk and continues the leg."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    words = own_program.command("saltern", ("chain", "resume", leg, *again))
    os.execve(sys.executable, words, own_program.environment())
