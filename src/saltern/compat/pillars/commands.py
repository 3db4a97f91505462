"""``cmd_yaml``, ``cmd_json``, ``cmd_yamlex``: the output of a command. ``file``: the content of a file.

``%s`` in a command or a path stands for the name of the machine. No shell runs the command, since the
administrator of the machine chooses that name.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable

import msgspec

from saltern.compat.pillars.ports import Asked, SourceError

LIMIT = 60.0  # seconds
MOST = 64 << 20  # bytes


def read_yaml(text: str) -> object:
    from saltern.render.yaml import read

    return read(text)


def read_json(text: str) -> object:
    return msgspec.json.decode(text)


def _run(command: object, asked: Asked, read: Callable[[str], object]) -> object:
    words = [word.replace("%s", asked.id) for word in shlex.split(str(command))]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False, text=True
        )
    except subprocess.TimeoutExpired:
        raise SourceError(f"it took longer than {LIMIT:.0f} seconds") from None
    if done.returncode:
        raise SourceError(f"{words[0]} ended with the exit code {done.returncode}")
    return read(done.stdout)


def cmd_yaml(asked: Asked, command: object) -> object:
    """What a command prints, as YAML; Salt's ``yamlex`` is read as YAML, too."""
    return _run(command, asked, read_yaml)


def cmd_json(asked: Asked, command: object) -> object:
    """What a command prints, as JSON."""
    return _run(command, asked, read_json)


def file(asked: Asked, path: object) -> object:
    """A YAML or JSON file; a missing one gives nothing."""
    if os.sep in asked.id:
        raise SourceError("the name of the machine has a '/' in it")
    try:
        with open(str(path).replace("%s", asked.id), encoding="utf-8") as found:
            return read_yaml(found.read(MOST))
    except FileNotFoundError:
        return {}
