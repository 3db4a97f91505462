"""Finds the most useful line of a longer text. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from saltern.chains.statuses import BAD, Step

_BAD_WORDS = frozenset(one.value for one in BAD)

_REASON = re.compile(
    r"\b(error|fail(ed|ure)?|cannot|could not|can't|unable|denied|refused|missing|exit code|timed out"
    r"|(has|have|was|were|did|does|is) not|not (found|available|known|allowed)|no such|no SLS|no space"
    r"|unknown|invalid|conflict\w*)\b",
    re.IGNORECASE,
)


def main_line(comment: str, *, failed: bool) -> str:
    """The most useful line of a comment: for a failure the one that names it, else the first. A line that
    only introduces the next one is joined with it.
    """
    lines = [line.strip() for line in comment.splitlines() if line.strip()]
    if not lines:
        return ""
    named = [line for line in lines if _REASON.search(line)] if failed else []
    chosen = named[0] if named else lines[-1] if failed and lines[0].count('"') % 2 else lines[0]
    after = lines[lines.index(chosen) + 1 :]
    return f"{chosen} {after[0]}" if chosen.endswith(":") and after else chosen


def note_of(row: Mapping[str, object]) -> str:
    """The note on an action in a table: for a failed program, its exit code and its last line."""
    output, code = row.get("output"), row.get("exit_code")
    if row["status"] == Step.FAILED.value and code and isinstance(output, Mapping):
        said = str(output.get("stderr") or output.get("stdout") or "").strip()
        return f"exit code {code}" + (f": {said.splitlines()[-1].strip()[:200]}" if said else "")
    return main_line(str(row["comment"]), failed=row["status"] in _BAD_WORDS)
