"""Small probes of the machine that never fail."""

from __future__ import annotations

import os

from saltern.system.boot import text_of


def read(path: str) -> str:
    """The text of a file; empty if it cannot be read."""
    return text_of(path)


def line(path: str) -> str:
    """The first line of a file, stripped."""
    return read(path).partition("\n")[0].strip()


def names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def program(name: str) -> str | None:
    """The path of a program; the administrator's directories are always searched."""
    searched = [*os.environ.get("PATH", os.defpath).split(os.pathsep), "/usr/sbin", "/sbin"]
    for directory in searched:
        path = os.path.join(directory, name)
        if directory and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def output_of(*command: str, limit: float = 2.0) -> str:
    """The output of a program; empty if it failed, is missing or took too long."""
    from saltern.system.process import run

    path = program(command[0])
    if path is None:
        return ""
    ran = run([path, *command[1:]], timeout=limit, env={"LC_ALL": "C"})
    return ran.out if ran.code == 0 else ""
