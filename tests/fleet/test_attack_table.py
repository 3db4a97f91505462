"""The tables of attacks and of faults name tests that are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
DOCS = HERE.parent.parent / "docs/internals"
PAGES = {"fleet-attacks.md": 60, "fleet-faults.md": 60}  # and how many tests they name at least


def named(page: str) -> Iterator[tuple[str, str]]:
    """Each file and test of a table; a name without a file is of the file before it."""
    for row in (line for line in (DOCS / page).read_text().splitlines() if line.startswith("| ")):
        file = ""
        for word in re.findall(r"`([\w/.:]+)`", row):
            path, _, name = word.rpartition("::")
            if word.endswith(".py"):
                file = word
                yield file, ""
            elif name.startswith("test_"):
                file = path or file
                yield file, name


@pytest.mark.parametrize(("file", "name"), [one for page in PAGES for one in named(page)])
def test_what_the_table_names_is_there(file: str, name: str) -> None:
    text = (HERE / file).read_text()
    assert not name or f"def {name}(" in text


@pytest.mark.parametrize("page", PAGES)
def test_the_tables_are_read(page: str) -> None:
    assert len([*named(page)]) >= PAGES[page]
