"""Installs an agent on a host from an archive, joins it with a token, starts and checks it; and removes it.

It is installed below saltern's directory there, with its own start program. Each step can be repeated: the
same request completes what a cut has interrupted.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from saltern.fleet.ssh.remote.bootstrap import write_files

LAUNCHER = "saltern"
LIMIT = 300.0  # seconds of one command
LOOK = 0.5  # seconds between two checks of an agent that has been started
LOG_LINES = "3"
REFUSED = "the controller refuses it"
SYSTEMD = "/run/systemd/system"  # exists if systemd runs
SCRIPT = """#!/bin/sh
SALTERN_PLACE={place}
PYTHONPATH={place}
export SALTERN_PLACE PYTHONPATH
exec {python} "$@"
"""


class Failed(Exception):
    """A step did not succeed; the text says which, and what was printed."""


def deploy(base: str, head: dict[str, Any], body: bytes) -> str:
    """Install, join and start; return what went wrong, or empty."""
    try:
        python = _install(base, str(head["digest"]), body)
        words = ["join", "-", "--if-needed", "--id", str(head["id"])]
        _saltern(python, [*words, *_directory(head)], str(head["token"]))
        _start(python, head)
        _await_agent(python, head)
    except (Failed, OSError) as problem:
        return str(problem)
    return ""


def undeploy(base: str, head: dict[str, Any], _body: bytes) -> str:
    """Stop the agent, have it leave the fleet, and remove it; even one that never came up."""
    python = os.path.join(base, "agent", LAUNCHER)
    if not os.path.exists(python):
        return "no agent was installed here with `saltern agent deploy`"
    try:
        if not head.get("start"):
            _stop()
        _saltern(python, ["leave", "--if-needed", *_directory(head)])
        if not head.get("start"):
            _saltern(python, ["install-service", "--remove"])
    except (Failed, OSError) as problem:
        return str(problem)
    shutil.rmtree(os.path.join(base, "agent"), ignore_errors=True)
    return ""


def _stop() -> None:
    """Stop the service, by whatever has started it."""
    for words in (["systemctl", "stop", "saltern-agent"], ["/etc/init.d/saltern-agent", "stop"]):
        if shutil.which(words[0]):
            _output(words)


def _install(base: str, digest: str, body: bytes) -> str:
    """The program that starts a Python with the agent's libraries."""
    folder = os.path.join(base, "agent")
    place, python = os.path.join(folder, digest), os.path.join(folder, LAUNCHER)
    if not os.path.isdir(place):
        fresh = f"{place}.{os.getpid()}.new"
        try:
            write_files(fresh, zlib.decompress(body))
            os.rename(fresh, place)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    text = SCRIPT.format(place=shlex.quote(place), python=shlex.quote(sys.executable))
    with open(os.open(f"{python}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o700), "w") as file:
        file.write(text)
    os.replace(f"{python}.new", python)
    return python


def _start(python: str, head: dict[str, Any]) -> None:
    """Start with the given command, which finds the agent's own command in ``$AGENT``; else as a service."""
    command = [python, "-P", "-m", "saltern", "agent", "run", *_directory(head)]
    if start := head.get("start"):
        environ = {**os.environ, "AGENT": shlex.join(command)}
        return _run(["/bin/sh", "-c", str(start)], environ=environ)
    _saltern(python, ["install-service", "--python", python, *_directory(head)])
    if os.path.isdir(SYSTEMD):
        return _run(["systemctl", "restart", "saltern-agent"])
    return _run(["/etc/init.d/saltern-agent", "start"])


def _await_agent(python: str, head: dict[str, Any]) -> None:
    """Wait until a controller has answered the agent. Raises ``Failed`` with what it has logged last."""
    end = time.monotonic() + float(head.get("wait") or 0)
    words = _words(python, ["status", "--out", "json", *_directory(head)])
    while why := _why_not_up(_output(words)):
        if time.monotonic() >= end or why.startswith(REFUSED):
            raise Failed(f"the agent was started and is not at work: {why}{_service()}{_log(python, head)}")
        time.sleep(LOOK)


def _why_not_up(said: subprocess.CompletedProcess[bytes]) -> str:
    """Why an agent does not work, by its status; empty if it does."""
    try:
        found = dict(json.loads(said.stdout))
    except ValueError:
        return _last_lines(said.stderr) or "it does not run"
    if found.get("refused"):
        return f"{REFUSED}: {found['refused']}"
    if not found.get("connected"):
        return f"not connected: {found.get('disconnected') or 'no broker of the fleet answers'}"
    return "" if found.get("synced") else f"no controller has answered it: {found.get('problem') or 'yet'}"


def _service() -> str:
    """What systemd says of the service, if it does not run."""
    if not os.path.isdir(SYSTEMD):
        return ""
    fields = ("ActiveState", "SubState", "Result", "ExecMainStatus")
    said = _output(["systemctl", "show", "saltern-agent", *(f"--property={one}" for one in fields)])
    return f"; systemd: {', '.join(said.stdout.decode('utf-8', 'replace').split())}"


def _log(python: str, head: dict[str, Any]) -> str:
    """The last lines of its log, to be added to a problem."""
    said = _output(_words(python, ["log", "--lines", LOG_LINES, *_directory(head)]))
    lines = _last_lines(said.stdout)
    return f"; its log: {lines}" if lines else ""


def _last_lines(data: bytes) -> str:
    return " / ".join(data.decode("utf-8", "replace").strip().splitlines()[-3:])[-600:]


def _directory(head: dict[str, Any]) -> list[str]:
    return ["--directory", str(head["directory"])] if head.get("directory") else []


def _words(python: str, words: Sequence[str]) -> list[str]:
    return [python, "-P", "-m", "saltern", "agent", *words]


def _saltern(python: str, words: Sequence[str], given: str = "") -> None:
    _run(_words(python, words), given)


def _output(argv: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    """The output of a command; empty if it takes too long."""
    with suppress(subprocess.TimeoutExpired):
        return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False)
    return subprocess.CompletedProcess(argv, 1, b"", b"it took too long")


def _run(argv: Sequence[str], given: str = "", *, environ: dict[str, str] | None = None) -> None:
    """Run a command to its end. Processes that it leaves behind hold none of our files open."""
    name = f"{os.path.basename(argv[0])} {argv[-1]}"
    with open(os.devnull, "wb") as nothing:
        try:
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
        except subprocess.TimeoutExpired:
            raise Failed(f"{name}: it took longer than {LIMIT:g} seconds") from None
    if done.returncode:
        said = (done.stderr or b"").decode("utf-8", "replace").strip()[-600:]
        raise Failed(f"{name}: exit code {done.returncode}: {said}")
