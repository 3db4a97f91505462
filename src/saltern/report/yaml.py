"""Writes a Report or data as YAML, in block style, in the given order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from saltern.language.diagnostics import Diagnostic
from saltern.language.events import Report
from saltern.report.plain import plain
from saltern.report.text import emit, tame

if TYPE_CHECKING:
    from saltern.report.outputs import OutputOptions


def dump(value: object) -> str:
    """YAML of any value. A value that is used twice is written twice, not as ``&id001``."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 (PyYAML's signature)
            return True

        def represent_text(self, text: str) -> yaml.ScalarNode:
            """A text in double quotes: elsewhere, PyYAML treats some characters as line ends."""
            style = '"' if any(end in text for end in "\x85\u2028\u2029") else None
            return self.represent_scalar("tag:yaml.org,2002:str", text, style)

    Dumper.add_representer(str, Dumper.represent_text)
    text: str = yaml.dump(
        plain(value), Dumper=Dumper, default_flow_style=False, sort_keys=False, allow_unicode=True
    )
    return text


def write(report: Report, out: TextIO, options: OutputOptions) -> None:
    from saltern.report.salt import to_dict

    write_data(to_dict(report), out, options)


def write_data(value: object, out: TextIO, options: OutputOptions) -> None:
    """Write ``label: value``, or only the value if the label is empty."""
    text = dump({options.label: value} if options.label else value)
    emit(out, tame(text))


def write_problems(problems: Iterable[Diagnostic], out: TextIO, options: OutputOptions) -> None:
    from saltern.report.diagnostics import as_text

    write_data([as_text(problem) for problem in problems], out, options)
