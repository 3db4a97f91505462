"""An agent on a host: installed from an archive, joined with a token, started; and removed again.

It lives below the directory that saltern has there, with a program of its own that finds it.
"""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from typing import Any

LAUNCHER = "saltern"
LIMIT = 300.0  # seconds of one command
SCRIPT = """#!/bin/sh
SALTERN_PLACE={place}
PYTHONPATH={place}
export SALTERN_PLACE PYTHONPATH
exec {python} "$@"
"""


class Failed(Exception):
    """A step did not succeed; the text says which, and what was printed."""


def deploy(base: str, head: dict[str, Any], body: bytes) -> str:
    """Install, join, start; what went wrong, empty if nothing did."""
    try:
        python = _installed(base, str(head["digest"]), body)
        words = ["join", "-", "--id", str(head["id"])]
        _saltern(python, [*words, *_directory(head)], str(head["token"]))
        _start(python, head)
    except (Failed, OSError) as problem:
        return str(problem)
    return ""


def undeploy(base: str, head: dict[str, Any], _body: bytes) -> str:
    """Stop the agent, have it forget the fleet, and remove it."""
    python = os.path.join(base, "agent", LAUNCHER)
    if not os.path.exists(python):
        return "no agent was installed here by `saltern agent deploy`"
    try:
        if not head.get("start"):
            for words in (["systemctl", "stop", "saltern-agent"], ["/etc/init.d/saltern-agent", "stop"]):
                if shutil.which(words[0]):
                    subprocess.run(words, capture_output=True, timeout=LIMIT, check=False)
        _saltern(python, ["leave", *_directory(head)])
        if not head.get("start"):
            _saltern(python, ["install-service", "--remove"])
    except (Failed, OSError) as problem:
        return str(problem)
    shutil.rmtree(os.path.join(base, "agent"), ignore_errors=True)
    return ""


def _installed(base: str, digest: str, body: bytes) -> str:
    """The program that starts a Python with the agent's libraries."""
    folder = os.path.join(base, "agent")
    place, python = os.path.join(folder, digest), os.path.join(folder, LAUNCHER)
    if not os.path.isdir(place):
        fresh = f"{place}.{os.getpid()}.new"
        os.makedirs(fresh, 0o700)
        try:
            with tarfile.open(fileobj=io.BytesIO(body), mode="r:gz") as archive:
                archive.extractall(fresh)
            os.rename(fresh, place)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    text = SCRIPT.format(place=shlex.quote(place), python=shlex.quote(sys.executable))
    with open(os.open(f"{python}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o700), "w") as file:
        file.write(text)
    os.replace(f"{python}.new", python)
    return python


def _start(python: str, head: dict[str, Any]) -> None:
    """By the command that was given, which finds the agent's own in ``$AGENT``; else as a service."""
    command = [python, "-P", "-m", "saltern", "agent", "run", *_directory(head)]
    if start := head.get("start"):
        environ = {**os.environ, "AGENT": shlex.join(command)}
        return _run(["/bin/sh", "-c", str(start)], environ=environ)
    _saltern(python, ["install-service", "--python", python, *_directory(head)])
    if os.path.isdir("/run/systemd/system"):
        return _run(["systemctl", "restart", "saltern-agent"])
    return _run(["/etc/init.d/saltern-agent", "start"])


def _directory(head: dict[str, Any]) -> list[str]:
    return ["--directory", str(head["directory"])] if head.get("directory") else []


def _saltern(python: str, words: Sequence[str], given: str = "") -> None:
    _run([python, "-P", "-m", "saltern", "agent", *words], given)


def _run(argv: Sequence[str], given: str = "", *, environ: dict[str, str] | None = None) -> None:
    """A command to its end. What it leaves running keeps nothing of ours open."""
    with open(os.devnull, "wb") as nothing:
        done = subprocess.run(
            argv,
            input=given.encode(),
            stdout=nothing,
            stderr=subprocess.PIPE if environ is None else nothing,
            timeout=LIMIT,
            check=False,
            env=environ,
            start_new_session=True,
        )
    if done.returncode:
        said = (done.stderr or b"").decode("utf-8", "replace").strip()[-600:]
        raise Failed(f"{os.path.basename(argv[0])} {argv[-1]}: exit code {done.returncode}: {said}")
