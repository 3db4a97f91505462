"""Orchestration files of the kinds that people have, and what a real Salt 3008 master made of them.

``cases/`` has the files, ``cases.json`` what Salt answered for each state: its result, the first line of its
comment, whether it changed something, and what systems returned. With CHAOS_SECONDS set (``make chaos``) a
real master with three minions is asked again, and must answer the same.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from bench.fleet_salt import SaltFleet, is_there
from tests.fleet.orchestration.kit import Site, site

HERE = Path(__file__).parent
TREE = HERE / "cases"
SYSTEMS = ("db1", "web1", "web2")
SALT: dict[str, dict[str, Any]] = json.loads((HERE / "cases.json").read_text())
LISTS = re.compile(r"(Updating |made to |ran on |minions: )([\w-]+(?:, [\w-]+)*)")
# Where we differ on purpose: docs/internals/quirks.md says why.
ALLOWED = {
    "result": True,
    "changed": True,
    "comment": "States ran successfully. Updating web1. It failed, as is allowed, on web2.",
}
OTHER: dict[tuple[str, str], dict[str, object]] = {
    **{("allowed", id_): ALLOWED for id_ in ("allowed one", "allowed that one", "allowed as a list")},
    ("nested test", "nested part"): {
        "result": None,
        "changed": True,
        "comment": "Runner function 'state.orchestrate' executed.",
    },
    ("nested test", "nested wrong"): {
        "result": False,
        "comment": "Runner function 'state.orchestrate' failed.",
    },
    ("queried", "queried unknown"): {
        "result": False,
        "comment": "Runner function 'nobody.knows' failed.",
    },
    ("queried", "queried wheel unknown"): {
        "result": False,
        "comment": "Wheel function 'nobody.knows' failed.",
    },
    ("queried", "queried too little"): {
        "result": False,
        "comment": "Runner function 'mine.get' failed.",
    },
    ("parallel", "parallel both"): {
        "result": True,
        "changed": True,
        "comment": "All runner functions executed successfully.",
    },
    ("parallel test", "parallel both"): {
        "result": None,
        "changed": False,
        "comment": "Runners one, two would be executed.",
    },
}


def reduced(states: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What is compared of each state, by its ID. Why a state was not run is said in words of our own."""
    return {str(one["__id__"]): _reduced(one) for one in states.values() if not one.get("__parent__")}


def _reduced(one: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"result": one["result"]}
    if one["result"] is not False:  # Salt counts a failure as a change of the systems that failed
        found["changed"] = bool(one["changes"])
    if one.get("__state_ran__", True) and "ttempt 1:" not in one["comment"]:
        found["comment"] = _comment(str(one["comment"]))
    return {**found, **_values(one["changes"])}


def _comment(text: str) -> str:
    """Its first line; systems in the order of their names, and no times."""
    first = text.strip().partition("\n")[0]
    first = LISTS.sub(lambda found: found[1] + ", ".join(sorted(found[2].split(", "))), first)
    return re.sub(r"\d+\.\d+ seconds", "N seconds", first)


def _values(changes: Any) -> dict[str, Any]:
    """What systems, or a runner, returned, where it is a plain value."""
    found = changes.get("ret", changes.get("return")) if isinstance(changes, Mapping) else None
    if isinstance(found, list):
        return {"ret": sorted(found)}
    plain = isinstance(found, Mapping) and all(isinstance(one, str | bool) for one in found.values())
    return {"ret": found} if plain else {}


def files() -> dict[str, str]:
    return {str(path.relative_to(TREE)): path.read_text() for path in sorted(TREE.rglob("*.*"))}


@pytest.fixture(scope="module")
def ours() -> Iterator[dict[str, dict[str, Any]]]:
    with site(SYSTEMS, files()) as here, ThreadPoolExecutor(4) as pool:
        yield dict(zip(SALT, pool.map(lambda case: answered(here, case), SALT), strict=True))


def answered(here: Site, case: str) -> dict[str, Any]:
    name, _, test = case.partition(" ")
    found = here.data("orchestrate", f"orch.{name}", *(["--test"] if test else []))["local"]
    assert isinstance(found, dict), found
    return reduced(found)


@pytest.mark.parametrize("case", SALT)
def test_results_are_those_of_salt(ours: dict[str, dict[str, Any]], case: str) -> None:
    expected = {id_: OTHER.get((case, id_), one) for id_, one in SALT[case].items()}
    assert {id_: ours[case].get(id_) for id_ in expected} == expected


@pytest.mark.skipif("CHAOS_SECONDS" not in os.environ or not is_there(), reason="make chaos, with Salt")
@pytest.mark.timeout(1800)
def test_a_real_master_still_answers_so() -> None:
    place = Path(tempfile.mkdtemp(prefix="sm-"))
    shutil.copytree(TREE, place / "states")
    salt = SaltFleet(place, place / "states", more="loop_interval: 1\n")
    try:
        salt.start(SYSTEMS)
        for case, expected in SALT.items():
            name, _, test = case.partition(" ")
            words = ["state.orchestrate", f"orch.{name}", *(["test=True"] if test else []), "--out", "json"]
            printed = salt.command("salt-run", *words).stdout
            answer = json.loads(printed[printed.index("{\n") :])["data"]
            assert reduced(next(iter(answer.values()))) == expected, case
    finally:
        salt.stop()
        shutil.rmtree(place, ignore_errors=True)
