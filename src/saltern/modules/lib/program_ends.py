"""How a program of a state has failed, in one line. Pure."""

from __future__ import annotations

from collections.abc import Mapping


def program_failure(changes: object) -> str:
    """Of the changes of a state that ran a program: its exit code and its last words, which say more than the
    comment of the state. Empty if they are of no program, or it did not fail."""
    if not isinstance(changes, Mapping) or not changes.get("retcode"):
        return ""
    printed = str(changes.get("stderr") or changes.get("stdout") or "").strip()
    return f"exit code {changes['retcode']}" + (f": {printed.splitlines()[-1].strip()}" if printed else "")
