"""Lists of chains, maintenance windows and schedules as lines for people."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from saltern.cli import exits
from saltern.report.outputs import options_for, write_data
from saltern.system.clock import stamp

Row = Mapping[str, Any]


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], nothing: str) -> Iterator[str]:
    """Columns that are as wide as needed; ``nothing`` is the line for an empty list."""
    if not rows:
        yield nothing
        return
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    for row in (head, *rows):
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def show_data(args: SimpleNamespace, value: object) -> int:
    """Print the rows as data, in the requested format."""
    write_data(value, sys.stdout, options_for(sys.stdout, colour=args.color, label=""), args.out)
    return exits.OK


def when(at: float | None) -> str:
    return f"{stamp(at)} UTC" if at else ""


def chains(rows: Sequence[Row]) -> Iterator[str]:
    found = [
        (row["name"], str(row["version"]), when(row["changed"]), row["changed_by"], _archived_mark(row))
        for row in rows
    ]
    nothing = "no chains: `saltern chain new FILE` stores one"
    yield from table(("chain", "version", "changed", "by", ""), found, nothing)


def _archived_mark(row: Row) -> str:
    return "archived" if row["archived_at"] else ""


def windows(rows: Sequence[Row]) -> Iterator[str]:
    found = [
        (
            row["name"],
            row["kind"],
            row["target"],
            row["zone"],
            "open" if row["open"] else f"next {when(row['next'])}" if row["next"] else "no more",
        )
        for row in rows
    ]
    nothing = "no windows: everything is allowed at any time; `saltern window set NAME FILE` stores one"
    yield from table(("window", "kind", "target", "zone", "now"), found, nothing)


def verdicts(rows: Sequence[Row]) -> Iterator[str]:
    """For each system: whether work may begin now, why not, and when it may."""
    for row in rows:
        if row["open"]:
            until = f" until {when(row['until'])}" if row["until"] else ", at any time"
            yield f"{row['system']}: open{until}"
        else:
            following = f"; next {when(row['next'])}" if row["next"] else "; there is no next window"
            yield f"{row['system']}: not now: {row['why']}{following}"
        for begin, end in row["windows"]:
            yield f"  {when(begin)} – {when(end)}"
    if not rows:
        yield "no system matches"


def schedules(rows: Sequence[Row]) -> Iterator[str]:
    found = [
        (
            row["name"],
            row["chain"],
            str(row["version"] or "newest"),
            row["target"],
            f"{row['cron']} {row['zone']}",
            when(row["next_at"]) if row["enabled"] else "disabled",
            row["last_why"] or row["last_run"],
        )
        for row in rows
    ]
    head = ("schedule", "chain", "version", "target", "times", "next", "last")
    yield from table(head, found, "no schedules: `saltern schedule set NAME CHAIN CRON` stores one")


def findings(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        where = f"action {row['action']}: " if row["action"] else ""
        systems = f": {', '.join(row['systems'])}" if row["systems"] else ""
        yield f"{row['level']}: {where}{row['what']}{systems}"
    if not rows:
        yield "no problems were found"
