"""``--out pprint``: Python literals, for use in a Python shell."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from saltern.language.diagnostics import Diagnostic
from saltern.language.events import Report
from saltern.report.plain import plain
from saltern.report.text import emit

if TYPE_CHECKING:
    from saltern.report.outputs import OutputOptions


def write(report: Report, out: TextIO, options: OutputOptions) -> None:
    from saltern.report.salt import to_dict

    write_data(to_dict(report), out, options)


def write_data(value: object, out: TextIO, options: OutputOptions) -> None:
    from pprint import pformat

    whole = {options.label: value} if options.label else value
    emit(out, pformat(plain(whole), sort_dicts=False, width=options.width or 80) + "\n")


def write_problems(problems: Iterable[Diagnostic], out: TextIO, options: OutputOptions) -> None:
    from saltern.report.diagnostics import as_text

    write_data([as_text(problem) for problem in problems], out, options)
