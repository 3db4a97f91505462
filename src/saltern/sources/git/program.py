"""The system's git, run so that it never prompts, runs no hook, and uses no address that runs a program."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.mask import mask
from saltern.sources.git.access import SSH
from saltern.sources.git.remote import PROTOCOLS, Remote

LIMIT = 600.0  # seconds
SLOWEST = ("1000", "60")  # bytes per second, over so many seconds: a slower remote counts as unreachable
SSH_FAILED = "fatal: Could not read from remote repository."  # ssh has printed the reason before it
SETTINGS: tuple[tuple[str, str], ...] = (
    ("core.hooksPath", "/dev/null"),
    ("core.askPass", ""),
    ("core.fsmonitor", "false"),
    ("advice.detachedHead", "false"),
    ("protocol.ext.allow", "never"),
    ("http.lowSpeedLimit", SLOWEST[0]),
    ("http.lowSpeedTime", SLOWEST[1]),
    ("submodule.recurse", "false"),
    ("gc.auto", "0"),
)


def git(remote: Remote, *args: str, extra: Mapping[str, str] | None = None) -> str:
    """Run git and return its output. Raises ``OperationError`` with the line that says why it failed."""
    done = run(remote, args, extra)
    if done.returncode:
        raise remote_error(remote, _complaint(done.stderr) or f"git ended with {done.returncode}")
    return done.stdout


def run(
    remote: Remote, args: tuple[str, ...], extra: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    try:
        process = subprocess.Popen(
            ("git", *args),
            env={**_environment(remote), **(extra or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,  # without a terminal, so that ssh cannot prompt
        )
    except FileNotFoundError:
        raise remote_error(remote, "git is not on this machine; install it") from None
    with process:
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            raise remote_error(remote, f"it did not respond within {LIMIT:.0f} seconds") from None
        finally:
            _end(process)
    return subprocess.CompletedProcess(args, process.returncode, out, err)


def _end(process: subprocess.Popen[str]) -> None:
    """End git and the programs that it has started, such as ssh, if they still run."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _environment(remote: Remote) -> dict[str, str]:
    """The environment of git: the user's git configuration counts; variables that make git prompt or use
    another repository do not.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "SSH_ASKPASS"))}
    settings = (*SETTINGS, *remote.access)
    numbered = {f"GIT_CONFIG_KEY_{at}": name for at, (name, _) in enumerate(settings)}
    numbered |= {f"GIT_CONFIG_VALUE_{at}": value for at, (_, value) in enumerate(settings)}
    return {
        **kept,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS),
        **_ssh(remote),
        "GIT_CONFIG_COUNT": str(len(settings)),
        **numbered,
        **dict(remote.secrets),
        "LC_ALL": "C",
    }


def _ssh(remote: Remote) -> dict[str, str]:
    """The ssh command of the user or of the remote's configuration; else one that never prompts."""
    if any(name == "core.sshCommand" for name, _ in remote.access):
        return {}
    return {"GIT_SSH_COMMAND": os.environ.get("GIT_SSH_COMMAND", SSH)}


def _complaint(text: str) -> str:
    """The most useful line of git's output: its first ``fatal``, what ssh printed before it, or the last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "ssh:", "ERROR:"))]
    if fatal and fatal[0] == SSH_FAILED:
        fatal = [*lines[: lines.index(SSH_FAILED)][-1:], SSH_FAILED]
    return mask((fatal or lines[-1:] or [""])[0])


def remote_error(remote: Remote, why: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="git-remote",
            what=f"{remote.shown} cannot be read: {why}",
            fix="check the address, the network, and this user's credentials for git",
        )
    )
