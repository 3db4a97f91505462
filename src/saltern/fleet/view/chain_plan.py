"""Plans of chains as text: what would be done, equal systems grouped, reboots and why, how long. Pure."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import ValidationError, convert, json

from saltern.fleet.view.chain_run import shown_inputs
from saltern.fleet.view.details import COMPARED, heading
from saltern.fleet.view.groups import group_systems, without_name
from saltern.fleet.view.words import count, moment, names, span
from saltern.report.colours import painter
from saltern.report.forecast import Foreseen
from saltern.report.nested import Nested
from saltern.report.text import cut, safe_line

if TYPE_CHECKING:
    from saltern.report.outputs import OutputOptions

Row = Mapping[str, Any]
SHORT = 12  # characters of a digest that are enough to name a plan
COLOURS = {"fail": "red", "change": "bright yellow", "reboot": "bright yellow", "update": "bright yellow"}


def plan_lines(plan: Row, options: OutputOptions, now: float) -> Iterator[str]:
    """The plan: its chain, what each system would do, which reboot, which could not be planned."""
    paint = painter(options.colour)
    yield paint(_title(plan), "bold")
    yield f"  chain {safe_line(plan['chain'])}, version {plan['version']}, on {_target(plan)}"
    yield f"  by {safe_line(plan['author'])}, made {moment(plan['created'], now)}"
    if plan["sha256"]:
        yield f"  digest {plan['sha256']}, signed by {safe_line(plan['signer'])}"
    if plan["inputs"]:
        yield f"  inputs {shown_inputs(plan['inputs'])}"
    if plan["waiting"]:
        yield f"  waits for the dry run of {names(plan['waiting'])}"
    for row, systems in group_systems([(one, one["system"]) for one in plan["systems"]], _comparison_key):
        yield ""
        yield paint(heading(systems, options.width), "bold")
        if len(systems) > 1 and "\0" in str(_comparison_key(row, row["system"])):
            yield paint(f"    (as it is for {safe_line(row['system'])})", "grey")
        yield from _steps(row["steps"], options)
    yield ""
    yield from _unplanned_lines(plan, paint)
    yield from _reboots(plan)
    yield from _duration(plan["estimate"])
    yield paint(count_systems(plan), "bold")


def _title(plan: Row) -> str:
    named = plan["sha256"][:SHORT] or plan["plan"]
    return f"plan {named}: {plan['status']}"


def _target(plan: Row) -> str:
    pinned = f", pinned to {count(len(plan['systems']), 'system')}" if plan["pinned"] else ""
    return f"{safe_line(plan['target'])}{pinned}"


def _comparison_key(row: Row, system: str) -> object:
    """What two systems must have in common to be shown together, without names and locations of states."""
    steps = [
        [step["action"], step["would"], step["comment"] if step["would"] == "fail" else "", step["reboot"]]
        + [[state.get(key) for key in COMPARED] for state in step["states"]]
        for step in row["steps"]
    ]
    return without_name(json.encode(steps, order="deterministic").decode(), system)


def _steps(steps: Sequence[Row], options: OutputOptions) -> Iterator[str]:
    paint = painter(options.colour)
    for step in steps:
        would = f"would {step['would']}" if step["would"] else "no changes needed"
        below = list(_states(step, options)) if step["would"] else []
        note = str(step["comment"]).strip().partition("\n")[0] if step["would"] and not below else ""
        head = safe_line(f"  {step['action']:<11} {step['kind']:<10} {would:<17}{note}".rstrip())
        yield paint(cut(head, options.width - 1) if options.width else head, COLOURS.get(step["would"], ""))
        yield from (f"      {line}".rstrip() for line in below)


def _states(step: Row, options: OutputOptions) -> Iterator[str]:
    """The states of an action with their diffs."""
    from saltern.report.proposal import write

    rows = [{"where": "", **state} for state in step["states"]]
    if not rows or step["kind"] in ("wait", "health", "reboot", "agent", "command", "script"):
        return
    out = io.StringIO()
    try:
        write(convert(rows, list[Foreseen]), out, options)
    except ValidationError:  # of another version of saltern: its data is shown as data
        yield from Nested(options.width, painter(options.colour)).lines(rows, 0)
        return
    lines = [line for line in out.getvalue().split("\n") if not line.startswith("Plan: ")]
    yield from "\n".join(lines).strip("\n").split("\n")
    if step.get("left_out"):
        yield f"and {count(step['left_out'], 'state')} more"


def _unplanned_lines(plan: Row, paint: Any) -> Iterator[str]:
    pairs = [(why, system) for system, why in plan["unplanned"].items()]
    for why, systems in group_systems(pairs, lambda one, system: without_name(one, system)):
        yield paint(f"{names(systems)}: could not be planned: {safe_line(why)}", "red")


def _reboots(plan: Row) -> Iterator[str]:
    """``reboot at A3: web1, web2: it is an action of the chain``."""
    pairs = [
        ((step["action"], step["reboot"]), one["system"])
        for one in plan["systems"]
        for step in one["steps"]
        if step["reboot"]
    ]
    same = group_systems(pairs, lambda one, system: (one[0], without_name(one[1], system)))
    for (action, why), systems in same:
        first = why.strip().partition("\n")[0]
        yield f"reboot at {safe_line(action)}: {names(systems)}: {safe_line(first)}"
    if plan["systems"] and not same:
        yield "no reboot is foreseen"


def _duration(estimate: Row) -> Iterator[str]:
    if not estimate:
        return
    run, unknown = estimate["run"], estimate["unknown"]
    if run is None:
        yield "its duration is unknown: no run of this chain has succeeded yet"
        return
    without = f"; not counted: {', '.join(unknown)}, without history" if unknown else ""
    seen = f"by {count(run['of'], 'earlier result')}"
    yield f"takes about {span(run['p50'])}, at most {span(run['p95'])} in 95 of 100 cases, {seen}{without}"


def count_systems(plan: Row) -> str:
    """``4 systems: 1 would fail, 2 would change, 1 could not be planned``."""
    found = {
        "would fail": 0,
        "would change": 0,
        "unchanged": 0,
        "could not be planned": len(plan["unplanned"]),
    }
    for one in plan["systems"]:
        would = {step["would"] for step in one["steps"]}
        found[
            "would fail" if "fail" in would else "would change" if would - {"", "look"} else "unchanged"
        ] += 1
    parts = ", ".join(f"{number} {word}" for word, number in found.items() if number)
    return f"{count(len(plan['systems']) + len(plan['unplanned']), 'system')}: {parts}"


def list_lines(rows: Sequence[Row], now: float) -> Iterator[str]:
    """Plans, one line each."""
    line = "{:<16}{:<8}{:<24}{:<20}{:<20}{}"
    yield line.format("plan", "status", "chain", "made", "by", "target")
    for row in rows:
        name = cut(f"{safe_line(row['chain'])} v{row['version']}", 23)
        who, target = cut(safe_line(row["author"]), 19), safe_line(row["target"])
        shown = row["sha256"][:SHORT] or row["plan"]
        yield line.format(shown, row["status"], name, moment(row["created"], now), who, target)
