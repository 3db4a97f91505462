"""A user's own state that kills its run: what it declares of itself decides what becomes of it."""

from __future__ import annotations

import pytest
from tests.fault.machine import machine

OWN = """
import os, signal

def fired(name):
    with open(os.path.join(name, "log"), "a") as log:
        log.write("fired\\n")
    mark = os.path.join(name, "mark")
    if not os.path.exists(mark):
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"name": name, "result": True, "changes": {"fired": True}, "comment": "fired"}
"""
ONCE = '__saltern__ = {"fired": {"repeat": "once"}}'
MAIN = "deadly:\n  own.fired:\n    - name: {{ pillar['at'] }}\n    {{ pillar.get('word', '') }}\n"


@pytest.mark.parametrize(
    ("declared", "word", "result", "times"),
    [
        ("", "", True, 2),
        (ONCE, "", False, 1),
        (ONCE, "- resume: rerun", True, 2),
        (ONCE, "- resume: skip", True, 1),
        (ONCE, "- resume: {probe: 'true'}", True, 1),
        (ONCE, "- resume: {probe: 'false'}", True, 2),
        (ONCE, "- unless: 'false'", True, 2),
    ],
)
def test_a_state_that_says_so_is_not_called_twice(declared: str, word: str, result: bool, times: int) -> None:
    with machine({"main.sls": MAIN, "_states/own.py": declared + OWN}) as one:
        given = f'{{at: {one.at}, word: "{word}"}}'
        assert one.place.run("apply", "main", "--pillar", given).code == -9
        answer = one.resume().answers()["deadly"]
        assert answer["result"] is result
        assert answer.get("indeterminate", False) is (times == 1 and "probe" not in word)
        assert one.log() == {"fired": times}
