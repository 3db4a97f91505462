"""``--fix`` fixes what can be fixed automatically, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.e2e.command import Place
from tests.lint.rule_cases import BAD, block

from saltern.language.diagnostics import OperationError
from saltern.lint.edits import apply_edits
from saltern.lint.findings import Edit
from saltern.lint.rules import RULES

MENDED = {
    "tab-indent": "a:\n  test.nop: []\n",
    "trailing-whitespace": "a:\n  test.nop: []\n",
    "missing-final-newline": "a:\n  test.nop: []\n",
    "old-renderer-spelling": "#!jinja|yaml\na:\n  test.nop: []\n",
    "unquoted-octal": "/x:\n  file.managed:\n    - contents: x\n    - mode: '0644'\n",
    "base-sixty": "a:\n  test.nop:\n    - names:\n      - '22:30'\n",
    "unquoted-text": "a:\n  test.nop:\n    - name: 'yes'\n",
    "prev-ret-unquoted": block("x:\n  test.nop:\n    - comment: {{ prev_ret.data.ip | tojson }}\n"),
    "short-form-colon": "a:\n  test.nop: []\n",
}
SPELLINGS = {
    "delayed-end-unnamed": "#!end_delayed_block after\n",
    "delayed-draft-spelling": "#!delayed_block after\nx:\n  test.nop: []\n#!end_delayed_block\n",
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_every_rule_that_says_it_mends_is_tried_here() -> None:
    assert {*MENDED, *SPELLINGS} == {name for name, rule in RULES.items() if rule.fixes}


@pytest.mark.parametrize("name", MENDED)
def test_a_rule_mends_what_it_finds(name: str, place: Place) -> None:
    bad = BAD[name][0]
    assert isinstance(bad, str)
    place.write({"main.sls": bad})
    done = place.run("check", "--fix")
    assert (place.states / "main.sls").read_text() == MENDED[name]
    assert (done.code, done.out) == (0, "checked 1 file, no problems; 1 fixed\n")


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_spelling_is_mended_when_its_rule_is_on(name: str, place: Place) -> None:
    bad = BAD[name][0]
    assert isinstance(bad, str)
    place.write({"main.sls": bad})
    place.run("check", "--fix", "--rule", name)
    assert (place.states / "main.sls").read_text().endswith(SPELLINGS[name])


def test_without_fix_nothing_is_touched_and_what_could_be_is_counted(place: Place) -> None:
    place.write({"main.sls": "a:  \n  test.nop: []"})
    done = place.run("check")
    assert done.out.endswith("2 warnings\nchecked 1 file; 2 can be fixed with --fix\n")
    assert (place.states / "main.sls").read_text() == "a:  \n  test.nop: []"


def test_what_an_edit_uncovers_is_mended_too(place: Place) -> None:
    place.write({"main.sls": "a:\n\ttest.nop:  \nb:\n  test.nop:"})
    done = place.run("check", "--fix")
    assert (place.states / "main.sls").read_text() == "a:\n  test.nop: []\nb:\n  test.nop: []\n"
    assert done.code == 0


def test_the_rest_of_a_file_stays_as_it_is(place: Place) -> None:
    lines = [
        "\ufeffa:",
        "  file.managed:",
        "    - name: /x ",
        "    - contents: |",
        "        été  ",
        "        \tx",
        "",
    ]
    text = "\r\n".join(lines)
    place.write({"main.sls": text.encode()})
    os.chmod(place.states / "main.sls", 0o640)
    place.run("check", "--fix")
    assert (place.states / "main.sls").read_bytes() == text.replace("/x ", "/x").encode()
    assert (place.states / "main.sls").stat().st_mode & 0o777 == 0o640


def test_a_file_that_cannot_be_written_is_reported() -> None:
    with pytest.raises(OperationError) as problem:
        apply_edits([Edit("/proc/version", 0, 0, "x")])
    assert [one.code for one in problem.value.diagnostics] == ["check-unwritable"]


def test_of_two_edits_at_one_place_the_first_is_made(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("abcdef")
    edits = [Edit(str(file), 1, 3, "-"), Edit(str(file), 2, 4, "+"), Edit(str(file), 4, 4, "!")]
    assert apply_edits(edits) == 2
    assert file.read_text() == "a-d!ef"
