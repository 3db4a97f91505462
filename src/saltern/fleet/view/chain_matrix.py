"""Runs of chains for people: the matrix of systems and actions, a run with what it waits for, lists. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import json

from saltern.fleet.view.details import heading
from saltern.fleet.view.groups import without_name
from saltern.fleet.view.words import count, moment
from saltern.report.colours import painter
from saltern.report.text import columns, cut, safe_line

Row = Mapping[str, Any]
MARKS = {
    "": " ",
    "not run": "·",
    "waiting": "…",
    "running": "▸",
    "succeeded": "✔",
    "failed": "✘",
    "timed out": "✘",
    "indeterminate": "?",
    "skipped": "↷",
    "cancelled": "⊘",
}
PLAIN = {**MARKS, "not run": ".", "waiting": ":", "running": ">", "succeeded": "+", "failed": "X"} | {
    "timed out": "T", "skipped": "s", "cancelled": "c"
}  # fmt: skip
COLOURS = {
    "succeeded": "green",
    "succeeded with skips": "green",
    "failed": "red",
    "timed out": "red",
    "indeterminate": "red",
    "expired": "red",
    "halted": "red",
    "partial": "red",
    "running": "cyan",
}
OVER = ("succeeded", "succeeded with skips", "failed", "cancelled", "expired", "indeterminate")
ENDS = ("succeeded", "partial", "failed", "cancelled", "expired")
WIDEST = 30


def is_over(run: Row) -> bool:
    return run["status"] in ENDS


def only_away(matrix: Row) -> list[str]:
    """The systems that a run waits for, if it waits for nothing else: all of them are away."""
    left = [row for row in matrix["rows"] if row["status"] not in OVER]
    return [row["system"] for row in left] if left and all(row["away"] for row in left) else []


def counted(rows: Sequence[Row]) -> str:
    """``4 systems: 1 failed, 3 succeeded``."""
    found = Counter(row["status"] for row in rows)
    parts = ", ".join(f"{number} {status}" for status, number in sorted(found.items()))
    return f"{count(len(rows), 'system')}: {parts}"


def matrix_lines(
    matrix: Row, *, width: int = 100, height: int = 0, colour: bool = False, plain: bool = False
) -> list[str]:
    """The run, its actions, one line for each system, the counts. ``height``: no more lines than that; those
    that have failed or still run are shown first.
    """
    paint, marks = painter(colour), PLAIN if plain else MARKS
    rows = _chosen(matrix["rows"], height - 4 if height else 0)
    inset = min(max((columns(safe_line(row["system"])) for row in rows), default=6), WIDEST)
    room = max(1, (width - inset - 26) // 2)
    lines = [paint(cut(_title(matrix), width - 1), "bold"), *_head(matrix["actions"], inset, width)]
    for row in rows:
        cells = " ".join(marks.get(cell, "?") for cell in row["cells"][:room])
        name = cut(safe_line(row["system"]), WIDEST)
        state = "away" if row["away"] and row["status"] not in OVER else row["status"]
        text = f"{name}{' ' * (inset - columns(name))}  {state:<22}{cells}"
        lines.append(paint(cut(text, width - 1), COLOURS.get(row["status"], "")))
    if hidden := len(matrix["rows"]) - len(rows):
        lines.append(f"{'...' if plain else '…'} and {hidden} more")
    return [*lines, counted(matrix["rows"])]


def _title(matrix: Row) -> str:
    reason = f": {safe_line(matrix['why'])}" if matrix.get("why") else ""
    return f"run {matrix['run']}: {matrix['status']}{reason}"


def _head(actions: Sequence[str], inset: int, width: int) -> list[str]:
    """The actions, numbered as the columns are; long lists are cut."""
    text = " ".join(safe_line(action) for action in actions)
    return [cut(f"{'system':<{inset}}  {'status':<22}{text}", width - 1)]


def _chosen(rows: Sequence[Row], room: int) -> list[Row]:
    if not room or len(rows) <= room:
        return list(rows)
    order = {"failed": 0, "indeterminate": 0, "expired": 0, "paused": 1, "running": 2, "rebooting": 2}
    first = sorted(rows, key=lambda row: (order.get(row["status"], 4), row["system"]))[: max(room, 1)]
    kept = {row["system"] for row in first}
    return [row for row in rows if row["system"] in kept]


def run_lines(run: Row, now: float, *, colour: bool = False) -> Iterator[str]:
    """A run: where it is, what it waits for, its waves, its gates, and each system with what it does."""
    paint = painter(colour)
    yield paint(f"run {run['run']}: {run['status']}", COLOURS.get(run["status"], "bold"))
    if run["why"]:
        yield f"  {safe_line(run['why'])}"
    yield f"  chain {safe_line(run['chain'])}, version {run['version']}, on {safe_line(run['target'])}"
    ended = (
        f", ended {moment(run['ended'], now)}" if run["ended"] else f", until {moment(run['deadline'], now)}"
    )
    yield f"  by {safe_line(run['author'])}, begun {moment(run['created'], now)}{ended}"
    yield f"  plan {run['plan_sha256']}"
    if run["inputs"]:
        yield f"  inputs {shown_inputs(run['inputs'])}"
    for one in run["revisions"]:
        by = f"by {safe_line(one['author'])}, {moment(one['at'], now)}"
        yield f"  revision {one['number']}: {one['status']}, {by}: {shown_inputs(one['inputs'])}"
    for wave in run["waves"]:
        stage = f" ({safe_line(wave['stage'])})" if wave["stage"] else ""
        soak = f" until {moment(wave['soak_until'], now)}" if wave["status"] == "soaking" else ""
        health = f", health {wave['health']}" if wave.get("health") else ""
        systems = count(wave["systems"], "system")
        yield f"  wave {wave['wave']}{stage}: {wave['status']}{soak}, {systems}{health}"
    yield from (_gate(gate, now) for gate in run["gates"])
    for leg in run["legs"]:
        yield paint(_leg(leg), COLOURS.get(leg["status"], ""))
    yield counted(run["legs"])
    yield from advice(run)


def shown_inputs(inputs: Row) -> str:
    """``count=3, mode=safe``."""
    pairs = (
        (name, one if isinstance(one, str) else json.encode(one).decode()) for name, one in inputs.items()
    )
    return safe_line(", ".join(f"{name}={value}" for name, value in sorted(pairs)))


def _gate(gate: Row, now: float) -> str:
    votes = sum(one["approves"] for one in gate["votes"])
    of = f" of {safe_line(gate['of'])}" if gate["of"] else ""
    until = f", until {moment(gate['expires'], now)}" if gate["status"] == "open" and gate["expires"] else ""
    return f"  gate {gate['gate']}: {gate['status']}, {votes} of {gate['needed']} approvals{of}{until}"


def _leg(leg: Row) -> str:
    state = f"{leg['status']}, away" if leg["away"] and leg["status"] not in OVER else leg["status"]
    at = f" at {safe_line(leg['current'])}" if leg["current"] and leg["status"] != "pending" else ""
    why = f": {safe_line(leg['waits_for'])}" if leg["waits_for"] else ""
    return f"  {safe_line(leg['system'])}: {state}{at}{why}"


def advice(run: Row) -> list[str]:
    """What can be done about it now."""
    name, found = run["run"], Counter(leg["status"] for leg in run["legs"])
    lines: list[str] = []
    opened = [gate for gate in run["gates"] if gate["status"] == "open"]
    said = [run["why"], *(leg["waits_for"] for leg in run["legs"])]
    waited = [gate["gate"] for gate in opened if _is_waited(gate["gate"], said)]
    if waited:
        lines.append(f"saltern chain approve {name} '{waited[0]}' approves it, reject ends it")
    if run["status"] == "halted":
        lines.append(f"saltern chain resume {name} --despite-failures continues, cancel ends it")
    if run["status"] == "paused":
        lines.append(f"saltern chain resume {name} continues it")
    if any(leg["quarantined"] for leg in run["legs"]):
        lines.append(
            f"saltern chain release {name} --system SYSTEM lets one be retried that broke again and again"
        )
    if any(found[one] for one in ("failed", "cancelled", "expired", "indeterminate")):
        lines.append(
            f"saltern chain retry {name} runs again what has not succeeded; log {name} has the details"
        )
    return lines


def _is_waited(gate: str, said: Sequence[str]) -> bool:
    """Whether something waits for the gate now: a run or a leg says so, or it is that of a changed plan."""
    return gate.startswith("revision ") or any(repr(gate) in text for text in said)


def leg_lines(leg: Row) -> Iterator[str]:
    """One system of a run, action by action."""
    yield f"{safe_line(leg['system'])}: {leg['status']}{', away' if leg['away'] else ''}"
    for row in leg["steps"]:
        first = str(row["comment"]).strip().partition("\n")[0]
        blocked = f"blocked by {row['blocked_by']}" if row["blocked_by"] else ""
        note = blocked if row["status"] == "not run" and blocked else first
        tries = f"attempt {row['attempts']} " if row["attempts"] > 1 else ""
        changed = "changed" if row["changed"] else ""
        cells = f"{row['action']:<12}{row['kind']:<11}{row['status']:<15}{changed:<9}"
        yield safe_line(f"  {cells}{tries}{note}".rstrip())


def grouped_legs(legs: Sequence[Row], width: int) -> Iterator[str]:
    """Legs that went the same way once, under their systems."""
    same: dict[str, list[str]] = {}
    texts: dict[str, list[str]] = {}
    for leg in legs:
        lines = list(leg_lines(leg))
        text = without_name("\n".join(lines), leg["system"])
        same.setdefault(text, []).append(leg["system"])
        texts.setdefault(text, [lines[0].removeprefix(f"{safe_line(leg['system'])}: "), *lines[1:]])
    for text, systems in same.items():
        first, *rest = texts[text]
        yield f"{heading(systems, width)} {first}"
        yield from rest


def list_lines(rows: Sequence[Row], now: float) -> Iterator[str]:
    """Runs, one line each."""
    line = "{:<32}{:<20}{:<20}{:<20}{}"
    yield line.format("run", "status", "chain", "begun", "systems")
    for row in rows:
        legs = ", ".join(f"{number} {status}" for status, number in sorted(row["legs"].items()))
        name = f"{safe_line(row['chain'])} v{row['version']}"
        yield line.format(row["run"], row["status"], cut(name, 19), moment(row["created"], now), legs)
