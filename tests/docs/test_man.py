"""Manual pages: those of the tables, without a mistake that man would notice."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tools.reference.man import escape, pages

FOLDER = Path(__file__).parent.parent.parent / "docs" / "man"


@pytest.mark.skipif(not shutil.which("groff"), reason="needs groff")
@pytest.mark.parametrize("name", sorted(path.rpartition("/")[2] for path in pages()))
def test_a_page_is_read_without_warnings(name: str) -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", str(FOLDER / name)], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert "NAME" in re.sub("\x08.", "", done.stdout)


def test_text_is_printed_as_it_is_written() -> None:
    assert escape(".SH x\\n") == "\\&.SH x\\en"
    assert escape("'a - b") == "\\&'a \\- b"
