"""The trees of the conformance suite by ``state.apply`` and by ``saltern.apply`` on the same minion.

They give the same where docs/internals/quirks.md does not say otherwise, and what ``saltern compare`` looks
at finds exactly those. A part of the trees is run; all by ``make chaos``.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conformance.test_suite import DEPARTURES, SUITE
from tests.salt_fleet.conftest import ROOT, Salt

from saltern.migration.comparison import compare_results

pytestmark = [pytest.mark.timeout(3000), pytest.mark.xdist_group("salt-fleet")]

EACH = 24  # of the trees that are alike
ALL = "CHAOS_SECONDS" in os.environ
MODULE = Path(__file__).parent / "both_module.py"


def cases() -> list[dict[str, Any]]:
    """Each tree: what the master, the minion and the job get. What a case only shows is a test run here."""
    return [_case(path.parent) for path in sorted(SUITE.glob("cases/*/case.yaml"))]


def _case(folder: Path) -> dict[str, Any]:
    described = _read(folder / "case.yaml")
    steps = [{**described, **(one or {})} for one in described.get("steps") or [{}]]
    config = _read(folder / "config.yaml")
    return {
        "name": folder.name,
        "states": str(folder / "states"),
        "scratch": str(folder / "scratch") if (folder / "scratch").is_dir() else "",
        "pillar": str(folder / "pillar") if (folder / "pillar").is_dir() else "",
        "config": config,
        "grains": {**_read(folder / "grains.yaml"), **({"id": config["id"]} if "id" in config else {})},
        "steps": [_step(one) for one in steps],
    }


def _step(described: Mapping[str, Any]) -> dict[str, Any]:
    names = described.get("sls") or []
    shown = str(described.get("op", "apply")).startswith("show")
    return {
        "sls": names if isinstance(names, str) else ",".join(names),
        "pillar": described.get("pillar") or {},
        "test": shown or bool(described.get("test")),
    }


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text()) if path.exists() else {}
    return found or {}


def chosen() -> list[dict[str, Any]]:
    known, named = cases(), DIFFERENT | SALT_FAILS | DEPARTURES.keys()
    alike = [case for case in known if case["name"] not in named]
    return [case for case in known if case["name"] in named] + alike[:: 1 if ALL else EACH]


def both(fleet: Salt, some: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """What Salt and saltern return for each tree, by one job."""
    place = fleet.place
    (place / "states" / "_modules" / "both.py").write_text(MODULE.read_text())
    fleet.ask("web1", "saltutil.sync_modules")
    (place / "order.json").write_text(json.dumps({"place": str(place), "cases": some}))
    answer = fleet.details("web1", "both.run", str(place / "order.json"), str(place / "answers.json"))
    assert answer["ret"] == len(some), answer
    found: dict[str, list[Any]] = json.loads((place / "answers.json").read_text())
    return found


def differs(salt: Mapping[str, Any], ours: Mapping[str, Any]) -> bool:
    """Whether ``saltern compare`` would report something of two runs, or they left other files."""
    pairs = zip(salt["steps"], ours["steps"], strict=True)
    return salt["files"] != ours["files"] or any(_step_differs(*pair) for pair in pairs)


def _step_differs(salt: object, ours: object) -> bool:
    if not isinstance(salt, dict) or not isinstance(ours, dict):
        return isinstance(salt, dict) != isinstance(ours, dict)
    reached = {
        tag: state for tag, state in ours.items() if not state["comment"].startswith("not run (failhard)")
    }
    return bool(compare_results(salt, reached))


def test_both_give_the_same_but_for_what_the_quirks_name(fleet: Salt) -> None:
    some = chosen()
    assert len(some) > 15
    try:
        found = both(fleet, some)
    finally:
        for link in ("case", "case-pillar"):
            (fleet.place / link).unlink(missing_ok=True)
        shutil.rmtree(fleet.place / "scratch", ignore_errors=True)
    different = {name for name, pair in found.items() if differs(*pair)}
    unexpected = {name: found[name] for name in different - DIFFERENT - SALT_FAILS}
    assert not unexpected, unexpected
    assert different == DIFFERENT | SALT_FAILS


# Of DEPARTURES, those whose results differ; the others differ in warnings, or in how an error is worded.
DIFFERENT = {
    "failhard-watch",
    "watch-failing-watcher",
    "test-mode-prereq-fails",
    "listen-missing",
    "listen-in-missing",
    "require-glob-no-match",
}
# Trees with which Salt itself fails: by a trace back, or by what it does against its own rules.
SALT_FAILS = {
    "guards-empty-list",
    "listen-in-bare",
    "onfail-stop-false",
    "prereq-chain-quiet-tail",
    "prereq-watch-target",
    "yaml-anchor-shared-dotted",
}


def test_the_chosen_trees_are_there() -> None:
    names = {case["name"] for case in cases()}
    assert set(DEPARTURES) & names >= DIFFERENT
    assert names >= SALT_FAILS
    assert Path(cases()[0]["states"]).is_dir()


def test_the_quirks_name_every_tree_that_differs() -> None:
    page = (ROOT / "docs" / "internals" / "quirks.md").read_text()
    assert not [name for name in DIFFERENT | SALT_FAILS if name not in page]
