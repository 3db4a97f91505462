"""A run of a chain as text: its progress, what it waits for, what can be done about it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import json

from saltern.fleet.view.chain_matrix import COLOURS, RANK, count_statuses, shown_state, statuses
from saltern.fleet.view.details import heading
from saltern.fleet.view.groups import without_name
from saltern.fleet.view.words import count, moment, span
from saltern.report.colours import painter
from saltern.report.text import cut, safe_line

Row = Mapping[str, Any]
BAD = ("failed", "cancelled", "expired", "indeterminate")
LOST = ("expired", "indeterminate")  # no action of theirs says why
ENDS_BEFORE = "the run ends before that"  # part of the message of a leg that waits for a window
REVISION = "revision "  # the prefix of the names of gates of revisions
LOOKS = 4  # lines for systems that need attention, below a matrix


def run_lines(run: Row, now: float, *, colour: bool = False, width: int = 0) -> Iterator[str]:
    """A run: its progress, what it waits for, its waves, its gates, and its systems, those that need
    attention first; systems with the same text share a line.
    """
    paint = painter(colour)
    yield paint(f"run {run['run']}: {run['status']}", COLOURS.get(run["status"], "bold"))
    if run["why"]:
        yield f"  {safe_line(run['why'])}"
    yield f"  chain {safe_line(run['chain'])}, version {run['version']}, on {safe_line(run['target'])}"
    yield f"  {_times(run, now)}"
    yield f"  plan {run['plan_sha256']}"
    if run["inputs"]:
        yield f"  inputs {shown_inputs(run['inputs'])}"
    for one in run["revisions"]:
        by = f"by {safe_line(one['author'])}, {moment(one['at'], now)}"
        yield f"  revision {one['number']}: {one['status']}, {by}: {shown_inputs(one['inputs'])}"
    is_over = bool(run["ended"])
    yield from (_wave(wave, run["legs"], now, is_over=is_over) for wave in run["waves"])
    yield from (_gate(gate, now, is_over=is_over) for gate in run["gates"])
    for legs in _alike(run["legs"]):
        systems = heading([leg["system"] for leg in legs], max(width - 20, 60))
        yield paint(f"  {systems} {_leg(legs, now)}", COLOURS.get(legs[0]["status"], ""))
    yield count_statuses(run["legs"])
    yield from advice(run)


def _times(run: Row, now: float) -> str:
    asked = f"asked for by {safe_line(run['author'])} {moment(run['created'], now)}"
    begun = f", begun {moment(run['begun'], now)}" if run.get("begun") else ""
    if run["ended"]:
        took = span(run["ended"] - (run.get("begun") or run["created"]))
        return f"{asked}{begun}, ended {moment(run['ended'], now)} after {took}"
    return f"{asked}{begun}, until {moment(run['deadline'], now)}"


def _wave(wave: Row, legs: Sequence[Row], now: float, *, is_over: bool) -> str:
    own = [leg for leg in legs if leg["wave"] == wave["wave"]]
    stage = f" ({safe_line(wave['stage'])})" if wave["stage"] else ""
    soak = f" until {moment(wave['soak_until'], now)}" if wave["status"] == "soaking" else ""
    health = f", health {wave['health']}" if wave.get("health") else ""
    systems = count(wave["systems"], "system")
    status = "not begun" if is_over and wave["status"] == "pending" else wave["status"]
    states = f": {statuses(own)}" if status != "pending" and own else ""
    return f"  wave {wave['wave']}{stage}: {status}{soak}, {systems}{states}{health}"


def _gate(gate: Row, now: float, *, is_over: bool) -> str:
    """The decision on a gate and by whom; for an open gate, how many approvals it still needs.

    If the run is over, only gates of revisions are open.
    """
    name = f"  gate {gate['gate']!r}"
    votes = [one for one in gate["votes"] if one["approves"]]
    if gate["status"] != "open":
        by = ", ".join(f"{safe_line(one['who'])} {moment(one['at'], now)}" for one in gate["votes"])
        return f"{name}: {gate['status']}" + (f" by {by}" if by else "")
    if is_over and not gate["gate"].startswith(REVISION):
        return f"{name}: not decided, {len(votes)} of {gate['needed']} approved"
    of = f" of {safe_line(gate['of'])}" if gate["of"] else ""
    until = f", until {moment(gate['expires'], now)}" if gate["expires"] else ""
    return f"{name}: needs approval, {len(votes)} of {gate['needed']} so far{of}{until}"


def shown_inputs(inputs: Row) -> str:
    """``count=3, mode=safe``."""
    pairs = (
        (name, one if isinstance(one, str) else json.encode(one).decode()) for name, one in inputs.items()
    )
    return safe_line(", ".join(f"{name}={value}" for name, value in sorted(pairs)))


# -- systems ------------------------------------------------------------------------------------------


def _alike(legs: Sequence[Row]) -> list[list[Row]]:
    """Groups of systems with the same text, those that need attention first."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for leg in legs:
        key = (shown_state(leg), leg["status"], _at(leg), without_name(_why(leg), leg["system"]))
        found.setdefault(key, []).append(leg)
    return sorted(found.values(), key=lambda some: RANK.get(shown_state(some[0]), 0))


def _leg(legs: Sequence[Row], now: float) -> str:
    first = legs[0]
    state = f"{first['status']}{_at(first)}"
    if shown_state(first) == "away":
        since = min((leg.get("away_since") or now for leg in legs), default=now)
        back = max((leg.get("back_by") or 0 for leg in legs), default=0)
        state += f", away since {moment(since, now)}" + (
            f", to be back by {moment(back, now)}" if back else ""
        )
    elif begun := min((leg["since"] for leg in legs if leg.get("since")), default=0):
        state += f" since {moment(begun, now)}"
    return f"{state}{': ' if (why := _why(first)) else ''}{why}"


def _at(leg: Row) -> str:
    shown = leg["current"] and leg["status"] not in ("pending", "succeeded", "succeeded with skips")
    return f" at {safe_line(leg['current'])}" if shown else ""


def _why(leg: Row) -> str:
    """Why the leg ended, or what it waits for."""
    said = leg.get("note") or leg["waits_for"] if leg["status"] in BAD else leg["waits_for"]
    return cut(safe_line(str(said)), 300)


# -- what can be done ---------------------------------------------------------------------------------


def advice(run: Row) -> list[str]:
    """What can be done about it now."""
    name, legs = run["run"], run["legs"]
    lines: list[str] = []
    opened = [gate for gate in run["gates"] if gate["status"] == "open"]
    said = [run["why"], *(leg["waits_for"] for leg in legs)]
    waited = [gate["gate"] for gate in opened if _is_waited(gate["gate"], said)]
    if waited:
        lines.append(
            f"saltern chain approve {name} '{waited[0]}' approves it, by another person; reject ends it"
        )
    if run["status"] == "halted":
        lines.append(f"saltern chain resume {name} --despite-failures continues, cancel ends it")
    if run["status"] == "scheduled" and ENDS_BEFORE in run["why"]:
        lines.append(f"saltern chain cancel {name} ends it; begin another with a longer --deadline")
    if run["status"] == "paused":
        lines.append(f"saltern chain resume {name} continues it")
    if away := [leg["system"] for leg in legs if shown_state(leg) == "away"]:
        lines.append(f"saltern chain unlock {name}{_system(away)} stops waiting for systems that are away")
    if any(leg["quarantined"] for leg in legs):
        lines.append(
            f"saltern chain release {name} --system SYSTEM lets a system be retried that broke repeatedly"
        )
    closed = [gate["gate"] for gate in run["gates"] if gate["status"] in ("rejected", "expired")]
    return [*lines, *_after_failures(name, [leg for leg in legs if not _is_closed_off(leg, closed)])]


def _is_closed_off(leg: Row, closed: Sequence[str]) -> bool:
    """True if a gate that was not approved has ended the leg: only another run can begin it."""
    return leg["status"] == "cancelled" and any(repr(gate) in leg["waits_for"] for gate in closed)


def _after_failures(name: str, legs: Sequence[Row]) -> Iterator[str]:
    bad = [leg for leg in legs if leg["status"] in BAD]
    if not bad:
        return
    system = _system([leg["system"] for leg in bad])
    yield f"saltern chain retry {name}{system} runs again what has not succeeded"
    printed = next((leg for leg in bad if leg["current"] and leg["status"] == "failed"), None)
    if printed is not None:
        words = f"{name} {safe_line(printed['system'])} {safe_line(printed['current'])}"
        yield f"saltern chain log {words} has what it printed"


def _system(systems: Sequence[str]) -> str:
    """The option for one system; several are all those that need it."""
    return f" --system {safe_line(systems[0])}" if len(systems) == 1 else ""


def _is_waited(gate: str, said: Sequence[str]) -> bool:
    """True if something waits for the gate now: a run, a leg, or a changed plan."""
    return gate.startswith("revision ") or any(repr(gate) in text for text in said)


def look_lines(run: Row, now: float) -> list[str]:
    """A few lines about the systems that need attention, and what can be done."""
    groups = [legs for legs in _alike(run["legs"]) if RANK.get(shown_state(legs[0]), 0) <= RANK["away"]]
    said = [f"{heading([leg['system'] for leg in legs], 60)} {_leg(legs, now)}" for legs in groups[:LOOKS]]
    more = sum(map(len, groups[LOOKS:]))
    return [*said, *([f"and {count(more, 'more system')}"] if more else []), *advice(run)]


# -- one system ---------------------------------------------------------------------------------------


def leg_lines(leg: Row, now: float | None = None) -> Iterator[str]:
    """One system of a run, action by action; with ``now``, including times."""
    lost = leg.get("waits_for") if leg["status"] in LOST and now is None else ""
    state = f"{leg['status']}{', away' if shown_state(leg) == 'away' else ''}"
    yield f"{safe_line(leg['system'])}: {state}{f': {safe_line(lost)}' if lost else ''}"
    if now is not None:
        yield from (f"  {line}" for line in _about_leg(leg, now))
    for row in leg["steps"]:
        yield safe_line(f"  {_step(row, now)}".rstrip())


def _about_leg(leg: Row, now: float) -> Iterator[str]:
    """What it waits for, whether it is away, its boots, and its unanswered orders."""
    if leg.get("away_since"):
        back = f", to be back by {moment(leg['back_by'], now)}" if leg.get("back_by") else ""
        yield f"away since {moment(leg['away_since'], now)}{back}"
    if leg["waits_for"]:
        yield safe_line(leg["waits_for"])
    for boot in leg.get("boots", ()):
        when = f" {moment(boot['at'], now)}" if boot["at"] else ""
        yield f"booted{when}, {'as planned' if boot['planned'] else 'not requested by an action'}"
    for one in leg.get("orders", ()):
        if not one["acked"]:
            yield f"order {one['order']} ({one['verb']}) of {moment(one['created'], now)} is not answered yet"


def _step(row: Row, now: float | None) -> str:
    blocked = f"blocked by {row['blocked_by']}" if row["blocked_by"] else ""
    note = row.get("note") or str(row["comment"]).strip().partition("\n")[0]
    note = blocked if row["status"] == "not run" and blocked else note
    tries = f"attempt {row['attempts']} " if row["attempts"] > 1 else ""
    changed = "changed" if row["changed"] else ""
    when = f"{_when(row, now):<19}" if now is not None else ""
    return f"{row['action']:<11} {row['kind']:<10} {row['status']:<15}{changed:<9}{when}{tries}{note}"


def _when(row: Row, now: float) -> str:
    """``02:51, 3.2 s``; for a running step, since when."""
    if not row.get("started") or row["status"] == "not run":
        return ""
    begun = moment(row["started"], now)
    return f"since {begun}" if row["status"] == "running" else f"{begun}, {span(row['took'])}"


def grouped_legs(legs: Sequence[Row], width: int) -> Iterator[str]:
    """Equal legs grouped under their systems."""
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
    yield line.format("run", "status", "chain", "asked for", "systems")
    for row in rows:
        legs = ", ".join(
            f"{row['legs'][status]} {status}"
            for status in sorted(row["legs"], key=lambda one: RANK.get(one, 0))
        )
        name = f"{safe_line(row['chain'])} v{row['version']}"
        why = f": {safe_line(row['why'])}" if row.get("why") else ""
        yield line.format(
            row["run"], row["status"], cut(name, 19), moment(row["created"], now), f"{legs}{why}"
        )
