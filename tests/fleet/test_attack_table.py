"""The table of attacks names tests that are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs/internals/fleet-attacks.md"


def named() -> Iterator[tuple[str, str]]:
    """Each file and test of the table; a name without a file is of the file before it."""
    for row in (line for line in PAGE.read_text().splitlines() if line.startswith("| ")):
        file = ""
        for word in re.findall(r"`([\w/.:]+)`", row):
            path, _, name = word.rpartition("::")
            if word.endswith(".py"):
                file = word
                yield file, ""
            elif name.startswith("test_"):
                file = path or file
                yield file, name


@pytest.mark.parametrize(("file", "name"), [*named()])
def test_what_the_table_names_is_there(file: str, name: str) -> None:
    text = (HERE / file).read_text()
    assert not name or f"def {name}(" in text


def test_the_table_is_read() -> None:
    assert len([*named()]) > 60
