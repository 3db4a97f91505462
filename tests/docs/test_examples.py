"""Every example runs and prints what its ``expected.txt`` says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.examples import EXPECTED, ROOT, examples, lacking, printed


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
