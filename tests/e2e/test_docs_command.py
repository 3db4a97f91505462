"""``saltern docs``: what the code says of itself."""

from __future__ import annotations

import pytest

from saltern.cli import exits
from saltern.cli.main import run


def test_the_page_of_a_function_has_its_words_and_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["docs", "file.touch", "--states"]) == exits.OK
    page = capsys.readouterr().out
    assert page.startswith("file.touch (state)")
    assert "makedirs: bool = False" in page


def test_a_module_lists_its_functions_and_no_name_lists_the_modules(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["docs", "test", "--states"]) == exits.OK
    assert "succeed_with_changes" in capsys.readouterr().out
    assert run(["docs"]) == exits.OK
    assert "file" in capsys.readouterr().out


def test_an_unknown_name_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["docs", "file.tuch"]) == exits.SURROUNDINGS
    assert "did you mean 'touch'?" in capsys.readouterr().err
