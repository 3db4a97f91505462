"""The output formats for reports and data: a row each, imported when used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TextIO, cast

from msgspec import Struct

from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean
from saltern.language.events import Report
from saltern.report.colours import is_terminal, terminal_width, wanted


class OutputOptions(Struct, frozen=True, kw_only=True):
    """The options of an output format. The ``state_…`` ones have Salt's names and defaults.

    ``sub_states`` is which of them are shown: ``full``, ``changes``, ``failed`` or ``count``. ``expand``
    shows every blocked state in full and the data of each state; ``width`` 0 means no wrapping; ``indent`` is
    JSON for people; ``label`` is the name above everything. ``seen``: every state had a line during the run,
    so only those with more information are shown again. ``traces``: the traceback of a module that failed is
    shown with its state.
    """

    state_output: str = "full"
    state_verbose: bool = True
    state_output_diff: bool = False
    state_output_profile: bool = True
    state_output_pct: bool = False
    state_tabular: bool | str = False
    state_compress_ids: bool = False
    state_output_exclude: tuple[object, ...] = ()
    state_output_terse: tuple[object, ...] = ()
    sub_states: str = "full"
    expand: bool = False
    colour: bool = False
    width: int = 0
    indent: bool = False
    label: str = "local"
    seen: bool = False
    traces: bool = False


class Output(Struct, frozen=True):
    """The three writers of one format, as ``module:function``; empty if it writes nothing."""

    report: str
    data: str
    problems: str = ""  # if a compile failure is part of the data, as in Salt's JSON


OUTPUTS = {
    "highstate": Output("human:write", "nested:write_data"),
    "nested": Output("nested:write", "nested:write_data"),
    "json": Output("salt:write", "salt:write_data", "salt:write_problems"),
    "tree": Output("tree:write", "salt:write_data", "salt:write_problems"),
    "jsonl": Output("lines:write", "lines:write_data", "lines:write_problems"),
    "yaml": Output("yaml:write", "yaml:write_data", "yaml:write_problems"),
    "junit": Output("junit:write", "salt:write_data", "junit:write_problems"),
    "pprint": Output("python:write", "python:write_data", "python:write_problems"),
    "quiet": Output("", ""),
}

Writer = Callable[[Report, TextIO, OutputOptions], None]
DataWriter = Callable[[object, TextIO, OutputOptions], None]
ProblemWriter = Callable[[Iterable[Diagnostic], TextIO, OutputOptions], None]


def options_for(out: TextIO, *, colour: bool | None = None, **settings: Any) -> OutputOptions:
    """The options that follow from the stream: colour (unless forced), width and indent."""
    settings.setdefault("indent", is_terminal(out))
    settings.setdefault("width", terminal_width(out))
    return OutputOptions(colour=wanted(out, colour), **settings)


def report_writer(name: str) -> Writer:
    """The function that writes a Report in this format."""
    return cast("Writer", _import_reference(_row(name).report))


def data_writer(name: str) -> DataWriter:
    """The function that writes plain data in this format."""
    return cast("DataWriter", _import_reference(_row(name).data))


def problem_writer(name: str) -> ProblemWriter:
    """The function that writes a compile failure as data; nothing is written in formats for people."""
    return cast("ProblemWriter", _import_reference(_row(name).problems))


def write(report: Report, out: TextIO, options: OutputOptions, name: str = "highstate") -> None:
    report_writer(name)(report, out, options)


def write_data(value: object, out: TextIO, options: OutputOptions, name: str = "nested") -> None:
    data_writer(name)(value, out, options)


def _row(name: str) -> Output:
    row = OUTPUTS.get(name)
    if row is None:
        raise OperationError(
            Diagnostic(
                code="unknown-output",
                what=f"no output is called {name!r}",
                fix=did_you_mean(name, OUTPUTS) or f"use one of {', '.join(OUTPUTS)}",
            )
        )
    return row


def _import_reference(reference: str) -> object:
    if not reference:
        return _nothing
    from importlib import import_module

    module, _, function = reference.partition(":")
    found: object = getattr(import_module(f"saltern.report.{module}"), function)
    return found


def _nothing(_value: object, _out: TextIO, _options: OutputOptions) -> None:
    """``quiet``: only the exit code reports the outcome."""
