"""The words that the project does not use are found, wherever they are, and nothing else is."""

from __future__ import annotations

import pytest
from tools.words import HEADING, Hit, Row, hits, notes, problems, prose, read_table

TABLE = f"""# Contributing

{HEADING}

| avoid | use instead | except |
| --- | --- | --- |
| told, tells | is reported | `src/saltern/cli/`, `as told by` |
| mend | fix |  |

## Test it

| told | is no row | of the table |
"""


def found(text: str, file: str = "src/saltern/runtime/x.py") -> list[Hit]:
    return list(hits(read_table(TABLE), [(file, text.splitlines())]))


def test_the_table_is_read_up_to_the_next_heading() -> None:
    told, mend = read_table(TABLE)
    assert told == Row(("told", "tells"), "is reported", ("src/saltern/cli/",), ("as told by",))
    assert mend == Row(("mend",), "fix")


@pytest.mark.parametrize(
    "text",
    [
        "def told(self): ...",
        "self._told = 1",
        "class Told: ...",
        "told_of = 2",
        "is_told",
        "TOLD = 3",
        '"""It is told."""',
        'print(f"{x} tells it")',
        "x = 1  # whoever: mend it",
    ],
)
def test_a_word_is_found_in_names_comments_and_texts(text: str) -> None:
    assert len(found(text)) == 1


@pytest.mark.parametrize("text", ["untold", "recommend", "amendment", "retells", "mended", "as told by Salt"])
def test_a_part_of_another_word_and_an_allowed_phrase_are_not(text: str) -> None:
    assert found(text) == []


def test_a_use_is_a_problem_with_its_line_and_what_to_write() -> None:
    files = [("src/saltern/a.py", ["x = 1", "told = 2"]), ("src/saltern/cli/b.py", ["told = 1"])]
    assert problems(list(hits(read_table(TABLE), files))) == [
        "src/saltern/a.py:2: 'told' is not used here: is reported"
    ]


def test_an_exception_that_is_not_needed_is_noted() -> None:
    rows = read_table(TABLE)
    (only,) = notes(rows, list(hits(rows, [("src/saltern/cli/b.py", ["x = 1"])])))
    assert only == "CONTRIBUTING.md: src/saltern/cli/ has no told, tells any more: remove the exception"


def test_code_in_a_page_is_not_prose() -> None:
    lines = ["A `told` word", "```sls", "told: x", "```", "is told"]
    assert prose(lines) == ["A  word", "", "", "", "is told"]


def test_a_row_without_three_cells_is_refused() -> None:
    with pytest.raises(SystemExit, match="has 2 cells"):
        read_table(f"\n{HEADING}\n| a | b | c |\n| --- | --- | --- |\n| told | x |\n")
    with pytest.raises(SystemExit, match="no heading"):
        read_table("nothing")
