"""The answers of many systems in the formats for scripts: per system, what the command prints on one
machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TextIO

from msgspec.structs import replace

from saltern.fleet.view.chain_legs import CHAIN, chain_legs
from saltern.fleet.view.details import plans, runs, values
from saltern.fleet.view.format_names import DATA_FORMATS, GROUPED, SILENT
from saltern.fleet.view.groups import summary
from saltern.fleet.view.outcomes import PLAN, Outcome, shape_of
from saltern.language.events import Report
from saltern.report.from_salt import from_dict, is_states
from saltern.report.outputs import OutputOptions, data_writer, report_writer
from saltern.report.text import emit

Format = Callable[[str, Sequence[Outcome], TextIO, OutputOptions], None]


def write(name: str, function: str, outcomes: Sequence[Outcome], out: TextIO, options: OutputOptions) -> None:
    """Write all answers in one format; ``jsonl`` is not handled here, because it is written as they
    arrive.
    """
    ordered = sorted(outcomes, key=lambda one: one.system)
    FORMATS[name](function, ordered, out, options)


def value_of(one: Outcome) -> object:
    """The value of a system in data: its answer, or a sentence in its place, as in Salt."""
    if one.kind == "nothing" or (one.kind == "clean" and one.value is None):
        return one.why or {}
    return one.value


def _write_groups(function: str, outcomes: Sequence[Outcome], out: TextIO, options: OutputOptions) -> None:
    found: list[str] = []
    if function == CHAIN:
        emit(out, "\n".join([*chain_legs(outcomes, options), ""]))
        return
    if shape_of(function) == PLAN:
        found += plans(outcomes, options)
    elif function == "saltern.runs":
        found += runs(outcomes, options)
    else:
        found += values(outcomes, options)
    if not found or any(one.kind != "value" for one in outcomes):
        found += summary(outcomes, colour=options.colour, width=options.width)
    emit(out, "\n".join([*found, ""]))


def _each(name: str) -> Format:
    """Print one system after another, each under its name, as Salt does."""

    def write_each(_function: str, outcomes: Sequence[Outcome], out: TextIO, options: OutputOptions) -> None:
        for one in outcomes:
            own = replace(options, label=one.system)
            if is_states(one.value) and one.value:
                report_writer(name)(from_dict(_mapping(one.value)), out, own)
            else:
                data_writer(name)(value_of(one), out, own)

    return write_each


def _mapping(value: object) -> dict[str, Any]:
    assert isinstance(value, dict)
    return value


def _whole(name: str) -> Format:
    """One document: a mapping from systems to what they answered."""

    def write_whole(_function: str, outcomes: Sequence[Outcome], out: TextIO, options: OutputOptions) -> None:
        data = {one.system: value_of(one) for one in outcomes}
        data_writer(name)(data, out, replace(options, label=""))

    return write_whole


def _junit(_function: str, outcomes: Sequence[Outcome], out: TextIO, options: OutputOptions) -> None:
    from saltern.report.junit import write_systems

    reports: dict[str, Report | str] = {}
    for one in outcomes:
        fine = one.kind in ("value", "clean") and not is_states(one.value)
        why = "" if fine else one.why or one.kind
        reports[one.system] = from_dict(_mapping(one.value)) if is_states(one.value) else why
    write_systems(reports, out, options)


def _nothing(_function: str, _outcomes: Sequence[Outcome], _out: TextIO, _options: OutputOptions) -> None:
    """Print nothing: the exit code is enough, or everything has already been written."""


FORMATS: dict[str, Format] = {
    GROUPED: _write_groups,
    "human": _write_groups,
    "highstate": _each("highstate"),
    "nested": _each("nested"),
    **{name: _whole(name) for name in DATA_FORMATS},
    "junit": _junit,
    **dict.fromkeys(SILENT, _nothing),
}
