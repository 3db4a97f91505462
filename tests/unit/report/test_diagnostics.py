"""Problems, as people read them."""

from __future__ import annotations

import io
from pathlib import Path

from saltern.language.diagnostics import Diagnostic, Severity
from saltern.language.source import Mark
from saltern.report.diagnostics import as_text, show


def shown(*problems: Diagnostic, colour: bool = False) -> str:
    out = io.StringIO()
    show(problems, out, colour)
    return out.getvalue()


def test_the_line_is_shown_with_its_neighbours_and_a_caret(tmp_path: Path) -> None:
    file = tmp_path / "web.sls"
    file.write_text("nginx:\n  pkg.installed:\n    - requires: x\n    - name: y\n")
    problem = Diagnostic(
        code="unknown-requisite",
        what="no requisite is called 'requires'",
        where=Mark(str(file), 3, 7),
        fix="did you mean 'require'?",
        also=(("first used", Mark("top.sls", 2)),),
        detail="more\nwords",
    )
    assert shown(problem) == (
        f"{file}:3:7: no requisite is called 'requires' [unknown-requisite]\n"
        "  2 |   pkg.installed:\n"
        "  3 |     - requires: x\n"
        "    |       ^\n"
        "  4 |     - name: y\n"
        "  more\n"
        "  words\n"
        "  first used: top.sls:2\n"
        "  fix: did you mean 'require'?\n"
    )


def test_the_caret_stands_under_what_follows_a_tab_or_a_wide_character(tmp_path: Path) -> None:
    file = tmp_path / "a.sls"
    file.write_text("\t日本: x")
    text = shown(Diagnostic(code="c", what="w", where=Mark(str(file), 1, 4)))
    assert text.splitlines()[1:] == ["  1 |         日本: x", "    |             ^"]


def test_a_long_line_is_cut_and_keeps_the_caret_in_sight(tmp_path: Path) -> None:
    file = tmp_path / "a.sls"
    file.write_text("x" * 1000 + "Y" + "z" * 1000)
    _, line, caret = shown(Diagnostic(code="c", what="w", where=Mark(str(file), 1, 1001))).splitlines()
    assert len(line) < 180
    assert line[caret.index("^")] == "Y"


def test_a_file_that_is_not_there_or_too_short_has_no_excerpt(tmp_path: Path) -> None:
    (tmp_path / "short").write_text("one\n")
    problems = [
        Diagnostic(code="c", what="w", where=Mark(name, 9, 1))
        for name in ("<stdin>", str(tmp_path / "short"), str(tmp_path), "nul\0")
    ]
    assert len(shown(*problems).splitlines()) == 5


def test_many_are_sorted_told_once_and_counted() -> None:
    second = Diagnostic(code="b", what="later", where=Mark("b.sls", 1))
    first = Diagnostic(code="a", what="sooner", where=Mark("a.sls", 1), severity=Severity.WARNING)
    third = Diagnostic(code="b", what="last", where=Mark("b.sls", 12))
    assert shown(third, second, first, second) == (
        "a.sls:1: warning: sooner [a]\nb.sls:1: later [b]\nb.sls:12: last [b]\n2 errors, 1 warning\n"
    )
    assert shown() == ""


def test_colours_and_no_control_characters_of_others(tmp_path: Path) -> None:
    file = tmp_path / "a.sls"
    file.write_text("\x1b[31mred")
    problem = Diagnostic(code="c", what="\x1b[2J", where=Mark(str(file), 1, 1), fix="\x07")
    assert "\x1b" not in shown(problem)
    assert "\x1b[0;31m\\x1b[2J\x1b[0m" in shown(problem, colour=True)


def test_as_text_is_what_and_where_and_fix() -> None:
    problem = Diagnostic(code="c", what="w", where=Mark("a", 1), fix="f")
    assert as_text(problem) == "a:1: w [c]\n  fix: f"
