"""How the extension waits for minions and for legs, with the modules of a real Salt."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.fleet_salt import SALT, environment
from tests.salt_fleet.conftest import EXTENSION

MODULE = EXTENSION / "saltext" / "saltern" / "modules" / "saltern.py"
RUNNER = EXTENSION / "saltext" / "saltern" / "runners" / "saltern.py"
LOAD = """\
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("loaded", sys.argv[1])
loaded = importlib.util.module_from_spec(spec)
spec.loader.exec_module(loaded)
"""
WATCH = """\
started, now = [], 1000.0
loaded.time.monotonic = lambda: now
watch = loaded._Watch("r", ["a", "b"], ["1"], lambda ids: started.append(ids) or "2", 60.0)
asked = {}
begun = {"action": {"event": "action-started"}}
for now in range(1000, 1300):
    if now == 1005:
        list(watch.lines({"tag": "saltern/chain/r/a", "data": {"data": begun}}))
    found = watch.overdue(now)
    watch.note_question(found, now)
    for one in found:
        asked.setdefault(one, []).append(now)
leg = {"token": "r", "steps": [], "status": "interrupted", "at_work": False}
answers = (leg, {**leg, "at_work": True}, {**leg, "status": "paused"}, "no run")
idle = [watch.is_idle("a", one) for one in answers]
rows = list(watch.begin_again(["a"], "asked-again"))
rows += watch.learn({"a": {**leg, "status": "succeeded"}, "b": "no run"})
rows += watch.lines({"tag": "saltern/chain/r/a", "data": {"data": begun}})  # it was sent before
print(json.dumps([asked, idle, [row["event"] for row in rows], started, sorted(watch.open)]))
"""
PAUSES = """\
pauses, answers = [], [True] * 9 + [False]
ask = lambda run: {"run": run, "at_work": answers.pop(0)}
leg = loaded._at_rest({"run": "r", "at_work": True}, pauses.append, ask)
none = loaded._at_rest({"run": "r", "at_work": False}, pauses.append, ask)
print(json.dumps([pauses, leg, none]))
"""


def load(path: Path, script: str) -> Any:
    """What a script prints that has loaded a module of the extension beside Salt."""
    if not (SALT / "salt").is_dir():
        pytest.skip("needs Salt in build/salt")
    done = subprocess.run(
        [sys.executable, "-c", LOAD + script, str(path)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_who_says_nothing_is_asked_and_who_does_nothing_begins_again() -> None:
    asked, idle, rows, started, left = load(RUNNER, WATCH)
    assert asked["b"][:3] == [1021, 1042, 1063]  # it has said nothing at all
    assert asked["a"] == [1066, 1187]  # it has begun: it may be at work for hours
    assert idle == [True, False, False, True]
    assert (rows, started, left) == (["asked-again", "leg"], [["a"]], ["b"])


def test_a_leg_that_is_at_work_is_asked_about_less_and_less() -> None:
    pauses, leg, none = load(MODULE, PAUSES)
    assert (pauses[0], pauses[-1], len(pauses)) == (0.5, 5.0, 10)
    assert pauses == sorted(pauses) and leg == none == {"run": "r", "at_work": False}
