"""A run of many thousand states is drawn by its files, in the colours of its answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from unittest.mock import patch

import pytest
from tests.views.trees import saltern

from saltern.views import fold, run_fold

Capture = pytest.CaptureFixture[str]
MAIN = """\
include: [other]
{% for at in range(30) %}
m{{ at }}:
  test.{{ 'fail_without_changes' if at in (3, 4) else 'succeed_with_changes' if at == 5 else 'nop' }}:
    - require:
      - test: 'o*'
{% endfor %}
blocked:
  test.nop:
    - require:
      - test: m3
caller:
  test.succeed_with_changes:
    - delayed_render:
      - block: later

#!delayed_block later
late:
  test.fail_without_changes: []
#!end_delayed_block
"""
OTHER = "{% for at in range(20) %}\no{{ at }}: test.nop\n{% endfor %}\n"


@pytest.fixture
def ran(tmp_path: Path, capsys: Capture) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "main.sls").write_text(MAIN)
    (tree / "other.sls").write_text(OTHER)
    assert saltern("apply", "main", "--file-root", str(tree)) == 2
    capsys.readouterr()
    return tree


def drawn(capsys: Capture, tree: Path, most: int, kind: str) -> str:
    with patch.object(fold, "MOST_DRAWN", most), patch.object(run_fold, "MOST_DRAWN", most):
        assert saltern("graph", "--run", "last", "--format", kind, "--file-root", str(tree)) == 0
    return capsys.readouterr().out


def test_one_item_for_each_file_with_its_worst_answer_and_all_counts(ran: Path, capsys: Capture) -> None:
    page = drawn(capsys, ran, 20, "html")
    data = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert data is not None
    items = json.loads(data[1])["items"]
    assert {(one["title"], one["below"], one["status"]) for one in items.values()} == {
        ("other", "20 states: 20 ok", "ok"),
        ("main", "32 states: 2 failed, 1 blocked, 2 changed, 27 ok", "failed"),
        ("rendered during the run", "1 state: 1 failed", "failed"),
    }
    (main,) = [one for one in items.values() if one["title"] == "main"]
    assert main["why"] == ["failed: m3, m4"]


@pytest.mark.parametrize("kind", ["svg", "dot", "mermaid"])
def test_every_format_of_a_huge_run_is_short(ran: Path, capsys: Capture, kind: str) -> None:
    folded, whole = (drawn(capsys, ran, most, kind) for most in (20, 3000))
    assert "m17" in whole and "m17" not in folded
    assert "32 states" in folded and "32 states" not in whole


def test_a_run_for_one_id_has_only_what_it_was_for(ran: Path, capsys: Capture) -> None:
    saltern("apply", "main", "--only-id", "m7", "--file-root", str(ran))
    capsys.readouterr()
    folded = drawn(capsys, ran, 20, "dot")
    assert "1 state: 1 ok" in folded and "20 states: 20 ok" in folded and "waiting" not in folded
