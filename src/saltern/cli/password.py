"""Ask for a password: at the terminal without showing it, or from standard input if that is not a
terminal.
"""

from __future__ import annotations

import sys

from saltern.language.diagnostics import Diagnostic, OperationError


def ask_password(prompt: str) -> str:
    """Read one line. Raises ``OperationError`` if it is empty."""
    if sys.stdin.isatty():
        import getpass

        given = getpass.getpass(prompt)
    else:
        given = sys.stdin.readline().rstrip("\n")
    if not given:
        what = "no password was given"
        fix = "type it at the terminal, or write it to standard input"
        raise OperationError(Diagnostic(code="password-missing", what=what, fix=fix))
    return given


def ask_new_password(name: str) -> str:
    """Ask for a new password, twice at a terminal."""
    given = ask_password(f"new password of {name}: ")
    if sys.stdin.isatty() and given != ask_password("repeat the password: "):
        what = "the two passwords differ"
        raise OperationError(
            Diagnostic(code="password-missing", what=what, fix="type the same password twice")
        )
    return given
