"""Which Python runs a program that is written in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from saltern.modules.lib.engines.find import interpreter


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ("#!/opt/venv/bin/python3.11", ["/opt/venv/bin/python3.11"]),
        ("#!/usr/bin/python3 -sP", ["/usr/bin/python3", "-sP"]),
        ("#!/usr/bin/env python3", ["python3"]),
        ("#!/bin/sh", ["HERE/python3"]),
        ("\x7fELF\u00ff", ["HERE/python3"]),
    ],
)
def test_the_first_line_says_so_or_else_the_environment(tmp_path: Path, first: str, found: list[str]) -> None:
    program = tmp_path / "tool"
    program.write_text(f"{first}\n", encoding="latin-1")
    assert interpreter(str(program)) == [word.replace("HERE", str(tmp_path)) for word in found]


def test_a_link_leads_to_its_environment(tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "tool").write_text("#!/bin/sh\n")
    (tmp_path / "tool").symlink_to(tmp_path / "env" / "tool")
    assert interpreter(str(tmp_path / "tool")) == [str(tmp_path / "env" / "python3")]
