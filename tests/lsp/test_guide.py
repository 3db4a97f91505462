"""What the guide tells people to write is well formed, and starts this server."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

GUIDE = (Path(__file__).parents[2] / "docs/guides/editors.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(lua|toml|lisp|json|js)\n(.*?)```", GUIDE, re.DOTALL)


def test_every_editor_has_its_lines() -> None:
    assert [kind for kind, _ in BLOCKS] == ["lua", "toml", "lisp", "json", "json", "js"]
    assert all("saltern" in text for _, text in BLOCKS)


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "json"])
def test_the_json_is_json(text: str) -> None:
    assert isinstance(json.loads(text), dict)


def test_helix_reads_the_toml() -> None:
    (text,) = (text for kind, text in BLOCKS if kind == "toml")
    found = tomllib.loads(text)
    assert found["language"][0]["language-servers"] == list(found["language-server"])


def test_the_brackets_of_the_lisp_match() -> None:
    (text,) = (text for kind, text in BLOCKS if kind == "lisp")
    assert text.count("(") == text.count(")")
