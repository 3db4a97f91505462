"""The failure of a program of a state, in one line. Pure."""

from __future__ import annotations

from collections.abc import Mapping


def program_failure(changes: object) -> str:
    """The exit code and last line of a program, from the changes of its state, which say more than the
    comment. Empty if there was no program, or it did not fail."""
    if not isinstance(changes, Mapping) or not changes.get("retcode"):
        return ""
    printed = str(changes.get("stderr") or changes.get("stdout") or "").strip()
    return f"exit code {changes['retcode']}" + (f": {printed.splitlines()[-1].strip()}" if printed else "")
