"""Formulas as the public ones are written compile to what Salt compiles.

The formulas are our own; ``expected`` was recorded from Salt 3008.3 by ``record.py``. High data and low data
must be the same, in every argument and number. So must the sequence that runs, but for those formulas where
a requisite pulls states forward: there saltern keeps the older rule, as decided for the language (number 20
in ``docs/internals/quirks.md``).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.formulas.trees import EXPECTED, HERE, SITE, Case, cases, formulas

from saltern.config.settings import Settings
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.engine.show import show_high, show_low, show_order
from saltern.language.diagnostics import Diagnostics

SALT = Path(os.environ.get("SALTERN_SALT_SITE") or HERE.parent.parent / "build" / "salt")
CASES = list(cases())
FEWEST = 10
MARKS = frozenset({"__prereq__", "__prerequiring__", "prerequired"})
PULLED = frozenset({"nginx", "openssh", "sudoers", SITE})

Chunk = dict[str, Any]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.formula} {case.key}")
# '\d' in a template is usual in formulas, and Python complains about it.
pytestmark = pytest.mark.filterwarnings("ignore:invalid escape sequence")


@cache
def recorded(formula: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EXPECTED / f"{formula}.json").read_text(encoding="utf-8"))
    return found


def session(case: Case, place: Path) -> Session:
    case.write_pillar(place / "pillar")
    grains = case.known_grains()
    settings = Settings(
        id=grains["id"],
        file_roots={"base": case.file_roots()},
        pillar_roots={"base": [str(place / "pillar")]},
        grains_file=os.devnull,
        cachedir=str(place / "cache"),
    )
    return Session(settings, grains=grains)


def plain(value: object) -> Any:
    return json.loads(json.dumps(value))


def tag(chunk: Chunk) -> str:
    return "_|-".join(chunk[part] for part in ("state", "__id__", "name", "fun"))


def number(chunk: Chunk) -> tuple[float, str]:
    """Salt's rule for two calls with one number is the same: by type, name and function."""
    return chunk["order"], f"{chunk['state']}{chunk['name']}{chunk['fun']}"


def calls(low: list[Chunk]) -> list[Chunk]:
    """By number, without the marks of either engine: Salt lists what is rehearsed for ``prereq`` twice."""
    once = {tag(chunk): {key: chunk[key] for key in chunk if key not in MARKS} for chunk in low}
    return sorted(once.values(), key=number)


@each_case
def test_a_formula_has_the_high_data_it_has_in_salt(case: Case, tmp_path: Path) -> None:
    found = Diagnostics()
    ours = plain(show_high(session(case, tmp_path), Request(sls=case.sls), found))
    found.check()
    theirs = recorded(case.formula)[case.key]["high"]
    assert sorted(ours) == sorted(theirs)
    for one, body in theirs.items():
        assert ours[one] == body, one


@each_case
def test_a_formula_has_the_low_data_it_has_in_salt(case: Case, tmp_path: Path) -> None:
    found = Diagnostics()
    ours = calls(plain(show_low(session(case, tmp_path), Request(sls=case.sls), found)))
    found.check()
    theirs = calls(recorded(case.formula)[case.key]["low"])
    assert list(map(tag, ours)) == list(map(tag, theirs))
    for chunk, other in zip(ours, theirs, strict=True):
        assert chunk == other


@each_case
def test_a_formula_runs_in_the_order_of_salt(case: Case, tmp_path: Path) -> None:
    rows = show_order(session(case, tmp_path), Request(sls=case.sls), Diagnostics())
    ours = [(row["state"], row["id"], row["name"]) for row in rows]
    low = reversed(
        recorded(case.formula)[case.key]["low"]
    )  # what is rehearsed runs the last time it is listed
    last = dict.fromkeys(
        (f"{chunk['state']}.{chunk['fun']}", chunk["__id__"], chunk["name"]) for chunk in low
    )
    theirs = list(reversed(last))
    assert sorted(map(str, ours)) == sorted(map(str, theirs))
    assert ours == theirs or case.formula in PULLED


@pytest.mark.skipif(not (SALT / "salt" / "state.py").is_file(), reason="no Salt here: see 'make salt'")
def test_what_was_recorded_is_what_salt_compiles() -> None:
    """Three formulas, since Salt needs some seconds for all of them."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.formulas.record", "--check", str(SALT)]
    some = ["chrony", "cronjobs", "sudoers"]
    done = subprocess.run([*command, *some], cwd=HERE.parent.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_every_formula_and_every_record_has_its_cases() -> None:
    assert len(formulas()) >= FEWEST
    assert {case.formula for case in CASES} == {*formulas(), SITE}
    keys = {(case.formula, case.key) for case in CASES}
    files = {path.stem for path in EXPECTED.glob("*.json")}
    assert {(name, key) for name in files for key in recorded(name)} == keys
