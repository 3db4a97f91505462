"""Lists as text: systems, keys, jobs, tokens, groups, events; one row each, columns aligned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from saltern.fleet.view.words import moment, span
from saltern.report.text import columns, cut, safe_line

Row = Mapping[str, Any]
Cell = Callable[[Row, float], str]
Listing = tuple[tuple[str, ...], tuple[Cell, ...], str]  # head, cells, and the text for an empty list
WIDEST = 60


def align(head: Sequence[str], rows: Iterable[Sequence[str]], width: int = 0) -> Iterator[str]:
    """The rows under their heads. Cells are made safe; a line is cut to the width, if there is one."""
    cells = [[safe_line(cell) for cell in row] for row in rows]
    shown = [list(head), *([cut(cell, WIDEST) for cell in row[:-1]] + row[-1:] for row in cells)]
    wide = [max(columns(row[number]) for row in shown) for number in range(len(head))]
    for row in shown:
        line = "  ".join(cell + " " * (wide[number] - columns(cell)) for number, cell in enumerate(row))
        yield cut(line.rstrip(), width) if width else line.rstrip()


def list_lines(name: str, rows: Iterable[Row], now: float, width: int = 0) -> Iterator[str]:
    """A list by the table ``LISTS``; a sentence if it is empty."""
    return listed_by(LISTS[name], rows, now, width)


def listed_by(listing: Listing, rows: Iterable[Row], now: float, width: int = 0) -> Iterator[str]:
    """Rows as one kind of list shows them."""
    head, cells, nothing = listing
    found = [[cell(row, now) for cell in cells] for row in rows]
    if not found:
        yield nothing
        return
    yield from align(head, found, width)


def presence(row: Row, now: float) -> str:
    """``here``, ``away since 17:02``, ``down, back by 17:05``; ``-`` for one that is not a member."""
    if row["state"] != "accepted":
        return "-"
    if row["online"]:
        return "here"
    if row.get("back_by") and row["back_by"] > now:
        return f"down, back by {moment(row['back_by'], now)}"
    return f"away since {moment(row['seen_at'], now)}" if row["seen_at"] else "never seen"


def job_status(row: Row, _now: float = 0) -> str:
    """``running 12/40``, ``ended``, ``cancelled``, with the number of failures if known."""
    counts = row.get("counts") or {}
    bad = sum(counts.get(status, 0) for status in ("failed", "refused", "indeterminate", "expired"))
    aside = f", {bad} failed" if bad else ""
    if row["ended"] is None:
        return f"running {row['expected'] - row['open']}/{row['expected']}{aside}"
    return ("cancelled" if row["cancelled_at"] else "ended") + aside


def _took(row: Row, now: float) -> str:
    return span((row["ended"] or now) - row["created"])


def _text(name: str) -> Cell:
    return lambda row, _now: str(row[name] if row[name] is not None else "")


def _time(name: str) -> Cell:
    return lambda row, now: moment(row[name], now) if row[name] else ""


def _uses(row: Row, _now: float) -> str:
    return "any number" if row["uses"] < 0 else str(row["uses"])


def _change(row: Row, _now: float) -> str:
    return f"{row['changed']} changed" if row["changed"] else ""


def _kind(row: Row, _now: float) -> str:
    return str(row.get("kind") or "agent")


def _key(row: Row, now: float) -> str:
    """The state of its key; a system reached over SSH has none."""
    return "-" if _kind(row, now) == "ssh" else str(row["state"])


def _digest(row: Row, _now: float) -> str:
    return str(row["digest"])[:12]


def _tree_state(row: Row, _now: float) -> str:
    return "held" if row["held"] else "" if row["current"] else "no longer a root"


def _size(row: Row, _now: float) -> str:
    return f"{row['size']:,}" if row["files"] else ""


def _where(row: Row, now: float) -> str:
    """``12/40 file.managed motd`` of a running job, when a system should be back, or the reason of its
    status.
    """
    if row["status"] == "down" and row.get("back_by"):
        return f"{row['why']}, back by {moment(row['back_by'], now)}"
    if row.get("state") or row.get("total"):
        return f"{row['done']}/{row['total']} {row['state']}".strip()
    return str(row["why"])


LISTS: dict[str, Listing] = {
    "systems": (
        ("system", "kind", "key", "presence", "version", "site"),
        (_text("id"), _kind, _key, presence, _text("version"), _text("site")),
        "no systems: `saltern fleet tokens new` makes a token, `saltern agent join TOKEN` uses it",
    ),
    "keys": (
        ("system", "key", "fingerprint", "asked", "decided by"),
        (_text("id"), _text("state"), _text("fingerprint"), _time("first_seen"), _text("decided_by")),
        "no keys",
    ),
    "jobs": (
        ("job", "started", "took", "status", "user", "function", "target"),
        (
            _text("jid"),
            _time("created"),
            _took,
            job_status,
            _text("user"),
            _text("function"),
            _text("target"),
        ),
        "no jobs yet",
    ),
    "targets": (
        ("system", "status", "exit", "", "why"),
        (_text("system"), _text("status"), _text("exit_code"), _change, _where),
        "no systems",
    ),
    "tokens": (
        ("token", "made", "by", "until", "uses", "site"),
        (_text("id"), _time("made_at"), _text("made_by"), _time("expires"), _uses, _text("site")),
        "no tokens: `saltern fleet tokens new` makes one",
    ),
    "trees": (
        ("environment", "version", "from", "by", "files", "bytes", ""),
        (_text("environment"), _digest, _time("at"), _text("by"), _text("files"), _size, _tree_state),
        "no versions yet: the first job, or `saltern tree publish`, makes one",
    ),
    "tree changes": (
        ("", "path"),
        (_text("change"), _text("path")),
        "no difference",
    ),
    "groups": (
        ("group", "target"),
        (_text("name"), _text("target")),
        "no groups: `saltern fleet groups set NAME TARGET` makes one, and --on @NAME uses it",
    ),
}
