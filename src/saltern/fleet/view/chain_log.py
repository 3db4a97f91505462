"""The output of actions as text: complete, and as it grows. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from saltern.fleet.view.words import moment
from saltern.report.text import safe, safe_line

Row = Mapping[str, Any]
MARKS = {"stdout": "|", "stderr": "!"}
GAP = "…\n"
DECISIONS = ("approved", "rejected", "expired")


def log_lines(rows: Sequence[Row], now: float) -> Iterator[str]:
    """What happened to a run, one line each."""
    for row in rows:
        who = f" by {safe_line(row['who'])}" if row["who"] else ""
        is_decision = row["what"] in DECISIONS
        gate = f"gate '{safe_line(row['about'])}' " if is_decision else ""
        about = f" {safe_line(row['about'])}" if row["about"] and not is_decision else ""
        detail = f": {safe_line(row['detail'])}" if row["detail"] else ""
        yield f"{moment(row['at'], now)}  {gate}{safe_line(row['what'])}{who}{about}{detail}"


def leg_log_lines(leg: Row, texts: Sequence[Row], action: str = "") -> Iterator[str]:
    """Each action of one system: its result, and its output in each attempt."""
    for step in leg["steps"]:
        if action and step["action"] != action:
            continue
        yield safe_line(f"{step['action']}: {_outcome(step)}")
        own = [row for row in texts if row["action"] == step["action"]]
        several = len({row["attempt"] for row in own}) > 1
        for row in own:
            if several and row["stream"] == own[0]["stream"]:
                yield f"  attempt {row['attempt']}"
            yield from (f"  {line}" for line in marked_lines(row["stream"], row["text"]))


def _outcome(step: Row) -> str:
    if step["status"] == "not run" and step["blocked_by"]:
        return f"not run, blocked by {step['blocked_by']}"
    first = step.get("note") or str(step["comment"]).strip().partition("\n")[0]
    return f"{step['status']}: {first}" if first else str(step["status"])


def marked_lines(stream: str, text: str) -> Iterator[str]:
    """Each line after the mark of its stream: ``|`` for output, ``!`` for errors."""
    for line in safe(text).removesuffix("\n").split("\n"):
        yield f"{MARKS.get(stream, '|')} {line}".rstrip()


def added_text(before: str, after: str, grown: int) -> str:
    """The new part of a text that has grown by this many characters, of which only the end may be stored. It
    begins with ``…`` if something in between is lost.
    """
    was, now = before.rstrip("\n"), after.rstrip("\n")
    if now.startswith(was):
        return after[len(was) :].removeprefix("\n") if was else after
    return after[-grown:] if 0 < grown <= len(after) else GAP + after
