"""Small looks at the machine that never fail."""

from __future__ import annotations

import os

from saltern.system.boot import text_of


def read(path: str) -> str:
    """The text of a file; empty if it cannot be read."""
    return text_of(path)


def line(path: str) -> str:
    """The first line of a file, without spaces around it."""
    return read(path).partition("\n")[0].strip()


def names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def program(name: str) -> str | None:
    """Where a program is on the PATH; the directories of an administrator are always looked at."""
    searched = [*os.environ.get("PATH", os.defpath).split(os.pathsep), "/usr/sbin", "/sbin"]
    for directory in searched:
        path = os.path.join(directory, name)
        if directory and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def said(*command: str, limit: float = 2.0) -> str:
    """What a program printed; empty if it failed, is not there or took too long."""
    from saltern.system.process import run

    path = program(command[0])
    if path is None:
        return ""
    ran = run([path, *command[1:]], timeout=limit, env={"LC_ALL": "C"})
    return ran.out if ran.code == 0 else ""
