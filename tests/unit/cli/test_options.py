"""An option that several commands have is one row."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import saltern.cli


def test_no_option_is_written_twice() -> None:
    rows = Counter(
        ast.unparse(node)
        for file in Path(saltern.cli.__path__[0]).glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Row"
    )
    assert len(rows) > 50
    assert [row for row, times in rows.items() if times > 1] == []
