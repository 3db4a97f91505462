"""``saltern graph`` draws every state and every requisite, in each of its formats."""

from __future__ import annotations

import shutil
import subprocess
import sys
import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest
from tests.views.trees import many, saltern

Capture = pytest.CaptureFixture[str]
SVG = "{http://www.w3.org/2000/svg}"


def drawn(site: Path, capsys: Capture, *words: str) -> str:
    assert saltern("graph", *words, "--file-root", str(site)) == 0
    return capsys.readouterr().out


def classes(text: str, name: str) -> list[str]:
    found = [str(one.get("class")) for one in Xml.fromstring(text).iter(f"{SVG}g")]
    return [one for one in found if one.split()[0] == name]


def test_the_svg_has_each_state_each_requisite_and_the_file_that_is_required(
    site: Path, capsys: Capture
) -> None:
    text = drawn(site, capsys, "web", "--format", "svg")
    assert len([one for one in classes(text, "node") if "n-state" in one]) == 6
    assert len([one for one in classes(text, "node") if "n-sls" in one]) == 1
    kinds = sorted(one.removeprefix("edge e-") for one in classes(text, "edge"))
    assert kinds == ["listen", "member", "member", "require", "require", "require", "watch"]


def test_a_delayed_block_is_a_box_with_what_is_known_of_it(site: Path, capsys: Capture) -> None:
    text = drawn(site, capsys, "late", "--format", "svg")
    assert len(classes(text, "box")) == 1
    assert len([one for one in classes(text, "node") if "n-unborn" in one]) == 2


@pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not installed")
def test_graphviz_reads_the_dot(site: Path, capsys: Capture) -> None:
    for sls in ("web", "late"):
        text = drawn(site, capsys, sls, "--format", "dot")
        made = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, check=False)
        assert made.returncode == 0 and made.stderr == ""


def test_mermaid_never_sees_a_character_that_it_would_read(site: Path, capsys: Capture) -> None:
    text = drawn(site, capsys, "late", "--format", "mermaid")
    assert text.startswith("flowchart LR\n")
    assert "#60;b#62;#38;#34;#39;" in text
    assert "subgraph" in text and text.count("\n  end\n") == 1


def test_the_format_follows_the_name_of_the_file(site: Path, capsys: Capture, tmp_path: Path) -> None:
    begins = {"a.svg": "<svg", "a.dot": "digraph", "a.mmd": "flowchart", "a.html": "<!doctype html>"}
    for name, begin in begins.items():
        drawn(site, capsys, "web", "-o", str(tmp_path / name))
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(begin)


def test_a_run_is_drawn_in_the_colours_of_its_results(site: Path, capsys: Capture) -> None:
    saltern("apply", "late", "--file-root", str(site), "--out", "quiet")
    text = drawn(site, capsys, "--run", "last", "--format", "svg")
    found = [one.split()[2] for one in classes(text, "node")]
    assert sorted(found) == ["s-blocked", *["s-changed"] * 3, "s-failed", "s-ok"]
    assert len(classes(text, "box")) == 1


def test_a_run_for_one_id_shows_what_it_was_for(site: Path, capsys: Capture) -> None:
    saltern("apply", "web", "--only-id", "service", "--file-root", str(site), "--out", "quiet")
    text = drawn(site, capsys, "--run", "last", "--format", "svg")
    assert len([one for one in classes(text, "node") if "n-state" in one]) == 5  # all but 'reload'


def test_a_run_has_its_own_states(site: Path, capsys: Capture) -> None:
    assert saltern("graph", "web", "--run", "last", "--file-root", str(site)) == 1
    assert "[graph-run-names]" in capsys.readouterr().err


def test_without_runs_the_last_one_cannot_be_drawn(site: Path, capsys: Capture) -> None:
    assert saltern("graph", "--run", "last", "--file-root", str(site)) == 1
    assert "[runs-none]" in capsys.readouterr().err


def test_twice_as_many_states_are_about_twice_the_work(tmp_path: Path, capsys: Capture) -> None:
    """Counted in calls of functions, which no other program on the machine changes."""

    def work(count: int) -> int:
        tree = many(tmp_path / f"states{count}", count)
        calls = 0

        def count_call(_frame: object, event: str, _arg: object) -> None:
            nonlocal calls
            calls += event == "call"

        sys.setprofile(count_call)
        try:
            text = drawn(tree, capsys, "--format", "svg")
        finally:
            sys.setprofile(None)
        assert len(classes(text, "node")) == count
        return calls

    work(120)  # imports what there is to import
    assert work(480) < 3 * work(240)


def test_a_picture_alone_has_plain_colours(site: Path, capsys: Capture) -> None:
    """Inkscape, LibreOffice and their kin know no variables: they would paint all of it black."""
    text = drawn(site, capsys, "late", "--format", "svg")
    assert "var(" not in text and "light-dark(" not in text
    assert "prefers-color-scheme: dark" in text


def test_long_names_are_cut_for_other_programs(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "long.sls").write_text(f"{'long' * 80}:\n  test.nop: []\n", encoding="utf-8")
    for form in ("dot", "mermaid"):
        assert max(map(len, drawn(tmp_path, capsys, "long", "--format", form).splitlines())) < 120
