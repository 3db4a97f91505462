"""A job with the jobs that it has started, recursively."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from saltern.fleet.view.tables import job_status
from saltern.fleet.view.words import span
from saltern.report.text import cut, safe_line

Row = Mapping[str, Any]
DEEPEST = 20


class Jobs(Protocol):
    """The requests to the controller."""

    def get(self, jid: str) -> dict[str, Any]: ...
    def list(self, *, parent: str = "") -> Iterator[dict[str, Any]]: ...


def job_tree(jobs: Jobs, jid: str, depth: int = 0) -> dict[str, Any]:
    """A job, with its ``children`` in the order in which they were started."""
    children = [row["jid"] for row in jobs.list(parent=jid)] if depth < DEEPEST else []
    below = [job_tree(jobs, child, depth + 1) for child in sorted(children) if child != jid]
    return {**jobs.get(jid), "children": below}


def tree_lines(tree: Row, now: float, width: int) -> Iterator[str]:
    """One line for each job, those below it indented."""
    for indent, row in _walk(tree, 0):
        text = f"{'  ' * indent}{row['jid']}  {_what(row)}  {_status(row, now)}"
        yield cut(text, width) if width else text


def _walk(tree: Row, indent: int) -> Iterator[tuple[int, Row]]:
    yield indent, tree
    for child in tree["children"]:
        yield from _walk(child, indent + 1)


def _what(row: Row) -> str:
    args = " ".join(str(one) for one in row["args"])
    where = "" if row["function"] == "state.orchestrate" else f" on {row['target']}"
    return safe_line(f"{row['function']} {args}".rstrip() + where)


def _status(row: Row, now: float) -> str:
    took = (row["ended"] or now) - row["created"]
    return f"{job_status(dict(row))} ({span(max(took, 0))})"
