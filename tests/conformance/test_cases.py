"""Every ``.case`` file is a test: the language, as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.cases import EXPECTED, Case, differences, read

CASES = Path(__file__).parent / "cases"

# Cases that show a mistake of the engine which is not mended yet.
BROKEN: dict[str, str] = {}


def found() -> list[object]:
    return [
        pytest.param(
            path,
            id=str(path.relative_to(CASES).with_suffix("")),
            marks=[pytest.mark.xfail(reason=BROKEN[path.stem], strict=True)] if path.stem in BROKEN else [],
        )
        for path in sorted(CASES.glob("**/*.case"))
    ]


@pytest.mark.parametrize("path", found())
def test_the_case_holds(path: Path) -> None:
    case = Case(path)
    assert case.about.endswith("."), "a case begins with a sentence"
    assert not case.sections.keys().isdisjoint(EXPECTED), "a case expects something"
    assert not (found := differences(case)), "\n" + case.about + "\n" + "\n".join(found)


def test_the_broken_cases_exist() -> None:
    assert BROKEN.keys() <= {path.stem for path in CASES.glob("**/*.case")}


def test_a_section_is_everything_up_to_the_next_title() -> None:
    about, sections = read("A sentence\nin two lines.\n\n-- a.sls --\nx: y\n\n-- expect --\n")
    assert about == "A sentence in two lines."
    assert sections == {"a.sls": "x: y\n\n", "expect": "\n"}


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        ("-- expect --\nfailed  test.nop  a\n", "wanted failed"),
        ("-- expect --\nok  test.nop  a\nok  test.nop  b\n", "wanted"),
        ("-- errors --\nmain.sls:1:1  id-conflict\n", "missing main.sls:1:1"),
        ("-- expect --\nok  test.nop  a\n-- warnings --\n-  order-unknown\n", "missing -"),
        ("-- exit --\n2\n", "exit: wanted 2"),
        ("-- comments --\na: nothing like that\n", "without 'nothing like that'"),
        ("-- low --\n[]\n", "low: wanted []"),
    ],
)
def test_the_runner_notices_a_wrong_expectation(expected: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.case"
    path.write_text("Wrong.\n\n-- main.sls --\na: test.nop\n" + expected)
    assert told in " ".join(" ".join(differences(Case(path))).split())
