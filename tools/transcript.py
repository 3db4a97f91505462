"""Run commands from a page, and compare their output with the page.

A transcript is text: a line ``$ command``, then its output, then ``[exit N]`` if it did not end with 0.
Commands run without a shell; ``$PWD`` is the directory they run in, and times, paths and other values that
differ between machines are normalized before texts are compared.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tools import engines

PROMPT = "$ "

# Patterns of values that differ between runs, and their replacements.
NORMAL: tuple[tuple[str, str], ...] = (
    (r"Started: \S+", "Started: TIME"),
    (r"Duration: [\d.]+ m?s", "Duration: TIME"),
    (r"Total run time: +[\d.]+ m?s", "Total run time: TIME"),
    (r"(?m)(pid:)(\s+)\d+$", r"\1\2PID"),
    (r"\b\d{8}-\d{6}-\d+-(\w+\.log)\b", r"TIME-PID-\1"),
    (r"\b20\d{18}\b", "RUN"),
    (r"\b20\d{6}T\d{6}\.\d{6}-[0-9a-f]{6}\b", "JOB"),
    (r"\bsaltern-join-\S+", "TOKEN"),
    (r"\bat \d\d:\d\d\b", "at TIME"),
    (r"\b[0-9a-f]{64}\b", "SHA256"),
    (r"\b[0-9a-f]{40}\b", "COMMIT"),
    (r"/git/[0-9a-f]{32}/", "/git/REPOSITORY/"),
    (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UUID"),
    (r"\bSHA256:[\w+/]{43}", "SHA256:HASH"),
    (r"\bAAAA[\w+/]{40,}=*", "KEY"),
    (r"(?m)^(inode|device|extents): .+$", r"\1: PLACE"),
    (r"(start_time[\"']?: ?)[\"']?[\d:.]+[\"']?", r"\1TIME"),
    (r"((?:duration|time|took)[\"']?: ?)[\d.e-]+", r"\1TIME"),
    (r"(\d passed) in [\d.]+s", r"\1 in TIME"),
    (r" time=\"[\d.e-]+\"", ' time="TIME"'),
)


def environment(directory: Path) -> Mapping[str, str]:
    """The environment of a command: without the user's configuration, and with all state in ``directory``."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SALTERN_")}
    state = directory / ".home"
    controller = directory / "controller" / "controller.sock"
    return {
        **kept,
        **({"SALTERN_CONTROLLER": str(controller)} if controller.exists() else {}),
        "HOME": str(state),
        "XDG_CONFIG_HOME": str(state),
        "SALTERN_CACHEDIR": str(state / "cache"),
        "SALTERN_STATE_DIR": str(state / "runs"),
        "SALTERN_ID": "here",
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "PWD": str(directory),
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), engines.path())),
    }


def run(command: str, directory: Path) -> str:
    """The output of the command, on both streams, in normal form."""
    words = shlex.split(command.replace("$PWD", str(directory)))
    if words[0] == "saltern":
        words[:1] = [sys.executable, "-m", "saltern"]
    done = subprocess.run(
        words,
        cwd=directory,
        env=environment(directory),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    end = f"[exit {done.returncode}]\n" if done.returncode else ""
    return normal(done.stdout, directory) + end


def normal(text: str, directory: Path) -> str:
    text = text.replace(str(directory), "$PWD")
    for pattern, stands_for in NORMAL:
        text = re.sub(pattern, stands_for, text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def commands(text: str) -> list[str]:
    return [line.removeprefix(PROMPT) for line in text.splitlines() if line.startswith(PROMPT)]


def transcript(wanted: Iterable[str], directory: Path) -> str:
    """All commands in one directory, one after the other."""
    return "".join(f"{PROMPT}{command}\n{run(command, directory)}" for command in wanted)


def steps(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a transcript, with its expected lines."""
    command, lines = "", list[str]()
    for line in text.splitlines():
        if line.startswith(PROMPT):
            if command:
                yield command, lines
            command, lines = line.removeprefix(PROMPT), []
        elif command:
            lines.append(line)
    if command:
        yield command, lines


def missing(said: Iterable[str], printed: str) -> str | None:
    """The first expected line that is not printed, in this order. ``…`` matches any lines."""
    left = iter([_loose(line) for line in printed.splitlines()])
    for line in said:
        if line.strip() in ("…", "..."):
            continue
        if _loose(line) not in left:
            return line
    return None


def _loose(line: str) -> str:
    """The text for comparison, without spaces and with the invented paths of pages."""
    line = re.sub(r"/home/you/[\w-]+", "$PWD", line)
    for pattern, stands_for in NORMAL:
        line = re.sub(pattern, stands_for, line)
    return " ".join(line.split())
