"""The nested printer."""

from __future__ import annotations

import io
from typing import Any

from saltern.report.nested import Nested, write_data
from saltern.report.outputs import OutputOptions


def printed(value: object, **options: Any) -> str:
    out = io.StringIO()
    write_data(value, out, OutputOptions(**options))
    return out.getvalue()


def test_data_stands_under_its_label() -> None:
    assert printed({"b": [1, "two\nlines", [True, []]], "a": {}, "c": ""}) == (
        "local:\n"
        "    ----------\n"
        "    a:\n"
        "        ----------\n"
        "    b:\n"
        "        - 1\n"
        "        - two\n"
        "          lines\n"
        "        |_\n"
        "          - True\n"
        "          |_\n"
        "    c:\n"
    )


def test_a_single_value_is_one_line() -> None:
    assert printed(None) == "local:\n    None\n"
    assert printed("a\nb\n") == "local:\n    a\n    b\n"
    assert printed(5, label="") == "5\n"


def test_values_have_the_colour_of_their_kind() -> None:
    assert printed({"k": ["x", 1]}, colour=True) == (
        "\x1b[0;36mlocal:\x1b[0m\n"
        "    \x1b[0;36m----------\x1b[0m\n"
        "    \x1b[0;36mk:\x1b[0m\n"
        "        \x1b[0;32m- x\x1b[0m\n"
        "        \x1b[0;33m- 1\x1b[0m\n"
    )


def test_escape_sequences_are_shown_and_tabs_are_spaces() -> None:
    assert list(Nested().lines({"\x1b]0;x\x07": "a\tb\x1b[31m"})) == [
        "----------",
        "\\x1b]0;x\\x07:",
        "    a       b\\x1b[31m",
    ]


def test_a_loop_ends() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert list(Nested().lines(loop)) == ["- …"]
