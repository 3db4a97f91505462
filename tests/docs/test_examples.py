"""Every example runs and prints what its ``expected.txt`` says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.examples import EXPECTED, ROOT, examples, lacking, printed
from tools.transcript import run, steps


@pytest.mark.parametrize("example", examples(), ids=lambda path: path.name)
def test_an_example_prints_what_it_says_it_prints(example: Path) -> None:
    if programs := lacking(example):
        pytest.skip(f"this machine lacks {', '.join(programs)}")
    assert printed(example) == (example / EXPECTED).read_text(encoding="utf-8"), (
        "run `make examples` and look"
    )


def test_every_example_has_a_readme_a_transcript_and_a_line_in_the_list() -> None:
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    for directory in (ROOT / "examples").iterdir():
        if directory.is_dir():
            assert (directory / "README.md").is_file(), directory
            assert (directory / EXPECTED).is_file(), directory
            assert f"]({directory.name}/README.md)" in listed, directory


DELAYED = [example for example in examples() if example.name.startswith("delayed-")]


def frames(printed: list[str]) -> list[str]:
    """The lines above what was rendered late."""
    return [line for line in printed if line.lstrip().startswith("== ")]


@pytest.mark.parametrize("example", DELAYED, ids=lambda path: path.name)
def test_a_second_run_changes_nothing_and_still_renders_its_blocks(example: Path) -> None:
    text = (example / EXPECTED).read_text(encoding="utf-8")
    runs = [said for command, said in steps(text) if " apply " in command and "--test" not in command]
    first, second = runs
    assert frames(first) == frames(second) != []
    assert [line for line in first if line.startswith("Succeeded:") and "(changed=" in line]
    assert [line for line in second if line.startswith("Succeeded:") and "(" not in line]
    assert [line for line in first + second if line.startswith("Failed:")] == ["Failed:    0"] * 2


@pytest.mark.parametrize("example", DELAYED, ids=lambda path: path.name)
def test_the_linter_finds_nothing_to_say_about_an_example_of_delayed_rendering(
    example: Path, tmp_path: Path
) -> None:
    said = run(f"saltern check --file-root {example}/states --pillar '{{target: /srv}}'", tmp_path)
    assert said.endswith("no problems\n"), said


def test_the_five_use_cases_of_the_proposal_have_an_example() -> None:
    assert len(DELAYED) == 5
