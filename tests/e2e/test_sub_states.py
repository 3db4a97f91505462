"""Sub states through the command line: from a module of the user's tree, and from a program."""

from __future__ import annotations

import json
import sys

import pytest
from tests.e2e.command import Place

THING = '''
"""Several things at a time."""

def many(name, steps=(), result=True):
    return {"name": name, "result": result, "changes": {}, "comment": "many", "sub_state_run": list(steps)}
'''
STEPS = """
many:
  thing.many:
    - steps:
      - {low: {name: /a, state: disk, __id__: a, fun: present}, result: true, changes: {x: 1}, comment: done}
      - {low: {name: /a, state: disk, __id__: a, fun: present}, result: true, changes: {}, comment: again}
      - {low: {name: /b, state: disk, __id__: b, fun: present}, result: true, changes: [1], comment: odd}
after:
  test.succeed_without_changes:
    - onchanges: [{thing: many}]
needy:
  test.nop:
    - require: [{thing: many}]
"""


@pytest.fixture
def ran(place: Place) -> dict[str, dict[str, object]]:
    place.write({"_states/thing.py": THING, "main.sls": STEPS})
    done = place.run("apply", "main", "--out", "json")
    assert done.code == 2
    return done.json()["local"]


def test_a_module_of_the_user_reports_steps_as_results(ran: dict[str, dict[str, object]]) -> None:
    assert list(ran)[:4] == [
        "thing_|-many_|-many_|-many",
        "disk_|-a_|-/a_|-present",
        "disk_|-a#2_|-/a_|-present",
        "disk_|-b_|-/b_|-present",
    ]
    first = ran["disk_|-a_|-/a_|-present"]
    assert (first["result"], first["changes"], first["comment"]) == (True, {"x": 1}, "done")
    assert (first["__run_num__"], first["__sls__"], first["__depth__"]) == (1, "main", 1)
    assert first["__parent__"] == "thing_|-many_|-many_|-many"
    assert first["name"] == "/a"


def test_a_bad_entry_is_a_failed_result_and_the_others_stand(ran: dict[str, dict[str, object]]) -> None:
    bad = ran["disk_|-b_|-/b_|-present"]
    assert bad["result"] is False
    assert "'Changes' should be a dictionary" in str(bad["comment"])
    parent = ran["thing_|-many_|-many_|-many"]
    assert parent["result"] is True
    assert parent["warnings"] == ["engine said ok, b failed"]


def test_those_who_wait_for_the_parent_read_all_of_it(ran: dict[str, dict[str, object]]) -> None:
    by_id = {str(one["__id__"]): one for one in ran.values()}
    assert by_id["needy"]["result"] is False
    assert by_id["after"]["__state_ran__"] is False  # onchanges of what failed


def test_lines_come_while_the_program_runs(place: Place) -> None:
    step = json.dumps({"name": "one", "result": True, "changes": {}, "comment": ""})
    seen = place.base / "seen"  # the program does not end before somebody has read its step
    wait = f"while not os.path.exists({str(seen)!r}): time.sleep(0.02)"
    code = f"import os, time\nprint({step!r}, flush=True)\n{wait}"
    place.write({"main.sls": json.dumps({"it": {"exec.lines": [{"command": [sys.executable, "-c", code]}]}})})
    process = place.start("apply", "main", "--out", "jsonl")
    assert process.stdout is not None
    ended = []
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == "chunk-finished":
            ended.append(event["return"]["__id__"])
            seen.touch()
    process.communicate()
    assert ended == ["one", "it"]


def test_what_is_shown_is_chosen_on_the_command_line(place: Place) -> None:
    place.write({"_states/thing.py": THING, "main.sls": STEPS})
    text = place.run("apply", "main", "--sub-states", "count").out
    assert "3 sub states are not shown: 1 failed, 1 changed" in text
    assert "again" not in text
    assert "Sub states among them: 3 (failed=1, changed=1)" in text
