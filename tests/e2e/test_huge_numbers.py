"""Numbers of more digits than Python writes by itself."""

from __future__ import annotations

import pytest
from tests.e2e.command import Place

DIGITS = "1" + "0" * 5000
TREE = """\
#!py
def run():
    huge = 10 ** 5000
    kept = [{"name": "PLACE"}, {"contents": huge}]
    return {"a": {"test.nop": [{"given": huge}]}, "b": {"file.managed": kept}}
"""


@pytest.mark.parametrize("out", ["highstate", "json", "jsonl", "yaml", "nested", "pprint", "junit", "tree"])
def test_every_format_writes_them(place: Place, out: str) -> None:
    place.write({"main.sls": TREE.replace("PLACE", str(place.base / "file"))})
    assert place.run("apply", "main", "--out", out).code == 0
    assert (place.base / "file").read_text().strip() == DIGITS
    assert place.run("show", "run", "--out", out).code == 0


def test_plans_and_low_data_have_them(place: Place) -> None:
    place.write({"main.sls": TREE.replace("PLACE", str(place.base / "file"))})
    for out in ("json", "yaml", "nested", "pprint"):
        done = place.run("show", "low-sls", "main", "--out", out)
        assert done.code == 0
        assert DIGITS in done.out
    assert place.run("plan", "main", "-o", str(place.base / "kept.plan")).code == 0
