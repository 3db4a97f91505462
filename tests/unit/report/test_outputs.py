"""The table of outputs, and what the stream decides."""

from __future__ import annotations

import ast
import io
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.events import Report
from saltern.report import outputs
from saltern.report.colours import wanted
from saltern.report.outputs import OUTPUTS, OutputOptions, options_for
from saltern.report.yaml import dump

if TYPE_CHECKING:
    from tests.unit.report.conftest import Make

anything = st.text(st.characters(exclude_categories=()))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_output_writes_reports_data_and_problems(make: Make, name: str) -> None:
    out = io.StringIO()
    outputs.write(Report(answers=[make()]), out, OutputOptions(), name)
    assert bool(out.getvalue()) is (name != "quiet")
    outputs.write_data({"a": 1}, out, OutputOptions(), name)
    outputs.problem_writer(name)([Diagnostic(code="c", what="w")], out, OutputOptions())


def test_an_unknown_output_is_reported_with_the_nearest() -> None:
    with pytest.raises(OperationError, match="did you mean 'json'"):
        outputs.report_writer("jsn")


def test_yaml_keeps_the_order_and_writes_no_aliases() -> None:
    shared = ["x"]
    assert dump({"b": shared, "a": shared, "t": (1, {2})}) == "b:\n- x\na:\n- x\nt:\n- 1\n- - 2\n"


@given(st.text())
def test_yaml_gives_the_text_back(text: str) -> None:
    assert yaml.safe_load(dump({"t": text})) == {"t": text}


def test_the_python_output_is_a_literal() -> None:
    out = io.StringIO()
    outputs.write_data({"a": [1, None]}, out, OutputOptions(), "pprint")
    assert ast.literal_eval(out.getvalue()) == {"local": {"a": [1, None]}}


def test_the_stream_decides_colour_width_and_indent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "44")
    monkeypatch.delenv("NO_COLOR", raising=False)
    options = options_for(Terminal(), state_output="terse")
    assert (options.colour, options.width, options.indent, options.state_output) == (True, 44, True, "terse")
    options = options_for(io.StringIO())
    assert (options.colour, options.width, options.indent) == (False, 0, False)


@pytest.mark.parametrize(("variable", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_the_surroundings_can_refuse_colour_and_the_user_has_the_last_word(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wanted(Terminal())
    monkeypatch.setenv(variable, value)
    assert not wanted(Terminal())
    assert wanted(Terminal(), forced=True)


def test_json_needs_none_of_the_slow_imports() -> None:
    code = (
        "import sys, io\n"
        "from saltern.language.events import Report\n"
        "before = set(sys.modules)  # msgspec brings some; that is its business\n"
        "from saltern.report.outputs import OutputOptions, write\n"
        "write(Report(), io.StringIO(), OutputOptions(), 'json')\n"
        "write(Report(), io.StringIO(), OutputOptions())\n"
        "print(*(set(sys.modules)-before))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    slow = {"yaml", "subprocess", "threading", "logging", "datetime", "dataclasses", "inspect", "json"}
    assert not slow & set(loaded.split())
