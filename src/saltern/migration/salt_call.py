"""Calls the ``salt-call`` of this machine, and returns its result as data."""

from __future__ import annotations

import os
import shutil
import subprocess

import msgspec

from saltern.language.diagnostics import Diagnostic, OperationError

PROGRAMS = ("salt-call", "/opt/saltstack/salt/salt-call")
LIMIT = 3600.0  # seconds; Salt compiles large trees for minutes


class SaltCall:
    """``salt-call`` with the configuration of one minion; ``local``: without its master."""

    def __init__(self, program: str, configuration: str, *, local: bool) -> None:
        self._words = [
            find_program(program, PROGRAMS, "salt-call"),
            "--config-dir",
            configuration,
            "--out",
            "json",
            "--log-level",
            "quiet",
        ]
        if local:
            self._words.append("--local")

    def __call__(self, function: str, *words: str) -> object:
        """Call a function, and return its result. Raises ``OperationError`` if Salt returns none."""
        command = [*self._words, function, *words]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=LIMIT, stdin=subprocess.DEVNULL
        )
        try:
            return msgspec.json.decode(done.stdout, type=dict[str, object])["local"]
        except (msgspec.DecodeError, KeyError):
            raise OperationError(
                Diagnostic(
                    code="salt-failed",
                    what=f"salt-call {function} returned nothing: {last_line(done.stderr or done.stdout)}",
                    fix=f"check its output: {' '.join(command)}",
                )
            ) from None


def find_program(program: str, usual: tuple[str, ...], name: str) -> str:
    """The path of a program of Salt: the one that was named, or the first of the usual ones."""
    for one in [program] if program else usual:
        if path := shutil.which(os.path.expanduser(one)):
            return path
    raise OperationError(
        Diagnostic(
            code="salt-missing",
            what=f"{program or name} is not on this machine",
            fix=f"name it with --{name}",
        )
    )


def last_line(text: str) -> str:
    """The last line of a text, which usually has the reason of a failure."""
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it printed nothing"
