"""Trees of the conformance suite by ``state.apply`` and by ``saltern.apply`` on the same minion.

They give the same where ``DEPARTURES`` (docs/internals/quirks.md) does not say otherwise, and what ``saltern
compare`` compares finds exactly those. A part of the trees is run; all with ``CONFORMANCE=all``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from bench.fleet_salt import environment
from tests.conformance.test_suite import DEPARTURES, SUITE
from tests.salt_fleet.conftest import Salt

from saltern.migration.comparison import compare_results

pytestmark = [pytest.mark.timeout(3000), pytest.mark.xdist_group("salt-fleet")]

EACH = 24  # of the trees that are alike
BOTH = """\
import json, os, shutil, sys, salt.client
config, place, minion = sys.argv[1:]
client = salt.client.LocalClient(config)
root, scratch, found = os.path.join(place, "case"), os.path.join(place, "scratch"), {}
for case in json.load(sys.stdin):
    os.symlink(case["states"], root + ".new")
    os.replace(root + ".new", root)
    answers = []
    for function in ("state.apply", "saltern.apply"):
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.copytree(case["scratch"], scratch, symlinks=True) if case["scratch"] else os.mkdir(scratch)
        words = {"pillar": {"scratch": scratch, **case["pillar"]}, "test": case["test"]}
        answers.append(client.cmd(minion, function, [case["sls"]], kwarg=words, timeout=120).get(minion))
    found[case["name"]] = answers
print(json.dumps(found))
"""


def cases() -> list[dict[str, Any]]:
    """The trees that need no configuration of their own."""
    found = []
    for path in sorted(SUITE.glob("cases/*/case.yaml")):
        case, folder = yaml.safe_load(path.read_text()), path.parent
        known = {"case.yaml", "states", "scratch", "__pycache__"}
        if (
            case.get("op", "apply") != "apply"
            or "steps" in case
            or {one.name for one in folder.iterdir()} - known
        ):
            continue
        names = case.get("sls") or []
        found.append(
            {
                "name": folder.name,
                "states": str(folder / "states"),
                "scratch": str(folder / "scratch") if (folder / "scratch").is_dir() else "",
                "sls": names if isinstance(names, str) else ",".join(names),
                "pillar": case.get("pillar") or {},
                "test": bool(case.get("test")),
            }
        )
    return found


def chosen() -> list[dict[str, Any]]:
    known = [case for case in cases() if case["sls"]]
    if os.environ.get("CONFORMANCE") == "all":
        return known
    alike = [case for case in known if case["name"] not in DEPARTURES]
    return [case for case in known if case["name"] in DEPARTURES] + alike[::EACH]


def both(fleet: Salt, some: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """What Salt and saltern return for each tree."""
    config = str(fleet.place / "etc-master" / "master")
    done = subprocess.run(
        [sys.executable, "-c", BOTH, config, str(fleet.place), "web1"],
        env=environment(),
        input=json.dumps(some),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[Any]] = json.loads(done.stdout)
    return found


def differs(salt: object, ours: object) -> bool:
    """Whether ``saltern compare`` would report something of two runs."""
    if not isinstance(salt, dict) or not isinstance(ours, dict):
        return isinstance(salt, dict) != isinstance(ours, dict)
    reached = {
        tag: state for tag, state in ours.items() if not state["comment"].startswith("not run (failhard)")
    }
    return bool(compare_results(salt, reached))


def test_both_give_the_same_but_for_what_the_quirks_name(fleet: Salt) -> None:
    some = chosen()
    assert len(some) > 15
    found = both(fleet, some)
    different = {name for name, (salt, ours) in found.items() if differs(salt, ours)}
    unexpected = {name: found[name] for name in different - set(DEPARTURES)}
    assert not unexpected, unexpected
    assert different == DIFFERENT & set(found)


# Of DEPARTURES, those whose results differ; the others differ in warnings, or in how an error is worded.
DIFFERENT = {
    "failhard-watch",
    "watch-failing-watcher",
    "test-mode-prereq-fails",
    "listen-missing",
    "listen-in-missing",
    "require-glob-no-match",
}


def test_the_chosen_trees_are_there() -> None:
    assert set(DEPARTURES) & {case["name"] for case in cases()} >= DIFFERENT
    assert Path(cases()[0]["states"]).is_dir()
