"""Both streams into one pipe: what was printed first comes first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.command import Place

TREE = {
    "main.sls": "one:\n  test.succeed_with_changes: []\n",
    "bad.sls": "one:\n  file.touch: [{name: /nowhere/x}]\n",
    "top.sls": "base: {'*': [main]}\n",
}
HELD_BACK = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
# The command line, a word of its standard output, and one of its standard error that is written later.
ORDERS = {
    "plan": (("plan", "main", "-o", "kept.plan"), "Plan: ", "saved as kept.plan"),
    "plan with a profile": (("plan", "main", "--profile"), "Plan: ", "Where the time went"),
    "apply with a profile": (("apply", "main", "--profile"), "Succeeded: 1", "Where the time went"),
    "applied twice": (("apply", "main", "--check-idempotent"), "Succeeded: 1", "not idempotent"),
    "nothing to run": (("apply", "main", "--exclude", "main"), "Succeeded: 0", "no states to run"),
}


@pytest.mark.parametrize("what", ORDERS)
def test_what_is_reported_later_stands_later(tmp_path: Path, what: str) -> None:
    words, first, later = ORDERS[what]
    process = Place(tmp_path).write(TREE).start(*words, stderr=subprocess.STDOUT)
    text = process.communicate(timeout=100)[0].decode()
    assert first in text, text
    assert later in text, text
    assert text.index(first) < text.rindex(later), text


def test_whoever_writes_to_standard_error_is_after_what_was_printed() -> None:
    code = """
import os, sys, warnings
from saltern.cli.streams import keep_order
keep_order()
print('1'); print('2', file=sys.stderr); sys.stdout.write('3'); sys.stderr.write('4')
sys.stdout.write('5'); warnings.warn('6'); print('7'); sys.stderr.writelines(['8']); print('9', end='')
try: raise ValueError('0')
except ValueError: sys.excepthook(*sys.exc_info())
"""
    argv, pipe = [sys.executable, "-c", code], subprocess.PIPE
    done = subprocess.run(argv, env=HELD_BACK, stdout=pipe, stderr=subprocess.STDOUT, text=True)
    places = [done.stdout.index(str(number)) for number in (1, 2, 3, 4, 5)]
    assert places == sorted(places), done.stdout
    assert done.stdout.index("7\n") < done.stdout.index("8") < done.stdout.rindex("ValueError: 0")


def test_a_full_or_closed_output_does_not_keep_an_error_from_being_written() -> None:
    code = """
import sys
from saltern.cli.streams import keep_order
keep_order()
print('lost')
print('seen', file=sys.stderr)
sys.stderr.flush()
import os; os._exit(0)
"""
    with open("/dev/full", "w") as full:
        argv, pipe = [sys.executable, "-c", code], subprocess.PIPE
        done = subprocess.run(argv, env=HELD_BACK, stdout=full, stderr=pipe, text=True)
    assert (done.returncode, done.stderr) == (0, "seen\n")
