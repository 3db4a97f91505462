"""Calls the ``salt-run`` of this master; returns a result as data, or rows as they are printed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.migration.salt_call import find_program, last_line

PROGRAMS = ("salt-run", "/opt/saltstack/salt/salt-run")
UNKNOWN = "is not available"
FAILURES = (UNKNOWN, "Exception", "Traceback", "ERROR")
"""Output of salt-run that is not a row."""


class SaltRunner:
    """``salt-run`` with the configuration of one master."""

    def __init__(self, program: str, configuration: str) -> None:
        self._words = [find_program(program, PROGRAMS, "salt-run"), "--config-dir", configuration]
        self._words += ["--log-level", "quiet"]

    def ask(self, function: str, *words: str) -> Any:
        """Call a function of the runner, and return its result. Raises ``OperationError`` if there is
        none.
        """
        command = [*self._words, "--out", "json", f"saltern.{function}", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        try:
            found = msgspec.json.decode(done.stdout)
        except msgspec.DecodeError:
            raise _failure(function, done.stdout + done.stderr) from None
        if isinstance(found, str):  # salt-run prints errors as its result
            raise _failure(function, found)
        return found

    def follow(self, function: str, *words: str) -> Iterator[dict[str, Any]]:
        """Yield the rows that a function prints, as it prints them."""
        command = [*self._words, "--out", "json", f"saltern.{function}", *words]
        rest = []
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # an interrupt is handled here, and ends it
        ) as runner:
            try:
                for line in runner.stdout or ():
                    if (row := _row(line)) is not None:
                        yield row
                    else:
                        rest.append(line)
            finally:
                runner.terminate()
        if any(word in line for line in rest for word in FAILURES):
            raise _failure(function, "".join(rest))


def _row(line: str) -> dict[str, Any] | None:
    with suppress(msgspec.DecodeError):
        found = msgspec.json.decode(line)
        if isinstance(found, dict) and "event" in found:
            return found
    return None


def _failure(function: str, text: str) -> OperationError:
    if UNKNOWN in text:
        what = "this master does not have the runner of saltern"
        fix = "python -m saltext.saltern /srv/salt; then: salt-run saltutil.sync_all"
        return OperationError(Diagnostic(code="salt-extension-missing", what=what, fix=fix))
    what = f"salt-run saltern.{function} returned nothing: {last_line(text)}"
    return OperationError(Diagnostic(code="salt-failed", what=what, fix="check the log of the master"))
