"""``saltern tree`` names versions as its other words take them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fleet.api.kit import Running

from saltern.cli.tree import main
from saltern.language.diagnostics import OperationError


def test_what_was_published_can_be_compared_and_returned_to(
    api: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*words: str) -> str:
        assert main([*words, "--controller", api.socket]) == 0
        return capsys.readouterr().out

    first = run("publish").split()[-1]
    (tmp_path / "files" / "web.sls").write_text("a:\n  test.nop: []\n")
    second = run("publish")
    assert second.startswith("published: base ") and first != second.split()[-1]
    second = second.split()[-1]
    assert f"base         {second}" in run() and "web.sls" in run("diff", "base", first, second)
    assert run("rollback", "base", first) == f"base: {first} is in force\n"
    assert run("follow") == f"base follows the roots: {second} is in force\n"


def test_an_environment_that_the_roots_do_not_have_cannot_be_followed(api: Running) -> None:
    with pytest.raises(OperationError, match="the roots have no environment 'nope'"):
        main(["follow", "nope", "--controller", api.socket])
