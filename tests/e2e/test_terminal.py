"""On a terminal: live lines, a bar, Salt's report; plain text everywhere else."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping

import pytest
from tests.e2e.command import SALTERN, Place

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ALLOWED = re.compile(r"\x1b\[[0-9;]*[mJAKH]|[\r\n]")


def on_terminal(
    place: Place, *words: str, columns: int = 80, env: Mapping[str, str] | None = None, command: str = "apply"
) -> tuple[int, str]:
    """Exit code and everything a terminal of this width got."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(place.base), "TERM": "xterm-256color", "LANG": "C.UTF-8",
        "SALTERN_CACHEDIR": str(place.base / "cache"), "SALTERN_STATE_DIR": str(place.base / "runs"),
        **(env or {}),
    }  # fmt: skip
    argv = [*SALTERN, *place.argv(command, *words)]
    process = subprocess.Popen(
        argv, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=place.base, close_fds=True
    )
    os.close(theirs)
    got = bytearray()
    end = time.monotonic() + 200
    while time.monotonic() < end:
        ready, _, _ = select.select([ours], [], [], 0.5)
        if not ready and process.poll() is not None:
            break
        try:
            block = os.read(ours, 65536) if ready else b""
        except OSError:
            break
        if ready and not block:
            break
        got += block
    os.close(ours)
    return process.wait(timeout=200), got.decode("utf-8", "replace")


STATES = (
    "first:\n  test.succeed_with_changes: []\nslow_one:\n  cmd.run:\n    - name: sleep 0.8\n"
    "bad:\n  test.fail_without_changes: []\n"
)


def test_a_run_is_shown_while_it_happens_and_reported_at_the_end(place: Place) -> None:
    code, text = on_terminal(place.write({"main.sls": STATES}), "main")
    assert code == 2
    plain = ESCAPES.sub("", text)
    assert "● test.succeed_with_changes first" in plain
    assert "✗ test.fail_without_changes bad" in plain
    assert re.search(r"[█░]{20} 1/3 .*cmd\.run slow_one", plain), plain[:2000]
    assert plain.index("● test.succeed_with_changes first") < plain.index("cmd.run slow_one")
    assert "          ID: slow_one\r\n    Function: cmd.run" in plain
    assert "Succeeded: 2 (changed=2)" in plain
    assert "\x1b[" in text


def test_what_a_live_view_has_shown_is_not_printed_again(place: Place) -> None:
    fine = "".join(f"fine{at}:\n  test.nop: []\n" for at in range(30))
    waits = "waits:\n  test.nop:\n    - require: [test: bad]\n"
    place.write({"main.sls": f"{STATES}{waits}{fine}"})
    code, text = on_terminal(place, "main")
    plain = ESCAPES.sub("", text)
    assert code == 2
    assert plain.count("✓ test.nop fine7 ") == 1
    assert "ID: fine7" not in plain
    assert "ID: first" in plain  # what it changed was not shown before
    end = plain.partition("Failures\r\n")[2]
    assert "test.fail_without_changes bad: Failure!" in end
    assert "also not run because of this: 1 state (waits)" in end
    _, asked = on_terminal(place, "main", "--state-output", "full")
    assert "ID: fine7" in ESCAPES.sub("", asked)


@pytest.mark.parametrize("columns", [1, 10, 20, 40, 200])
def test_a_terminal_of_any_width_is_never_overrun_by_the_bar(place: Place, columns: int) -> None:
    long = "name_of_a_state_that_is_much_longer_than_the_terminal_is_wide" * 2
    place.write(
        {"main.sls": f"{long}:\n  cmd.run:\n    - name: sleep 0.6\nérable_漢字_😀:\n  test.nop: []\n"}
    )
    code, text = on_terminal(place, "main", columns=columns)
    assert code == 0
    assert "Traceback" not in text
    live = text.partition("local:")[0]
    for piece in re.split(r"[\r\n]+", ESCAPES.sub("", live)):
        assert len(piece) <= max(columns, 10), repr(piece)


def test_no_color_means_no_colours_but_the_same_words(place: Place) -> None:
    code, text = on_terminal(place.write({"main.sls": STATES}), "main", env={"NO_COLOR": "1"})
    assert code == 2
    assert not re.search(r"\x1b\[[0-9;]*m", text)
    assert "ID: slow_one" in text
    _, coloured = on_terminal(place, "main")
    assert re.search(r"\x1b\[[0-9;]*m", coloured)


def test_a_dumb_terminal_in_plain_ascii_is_served_too(place: Place) -> None:
    place.write({"main.sls": "é:\n  test.nop: []\n"})
    code, text = on_terminal(
        place,
        "main",
        env={"TERM": "dumb", "LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    )
    assert code == 0
    assert "Traceback" not in text


def test_what_an_id_or_a_comment_holds_cannot_steer_the_terminal(place: Place) -> None:
    evil = "\\e]0;title\\a\\e[2J\\e[31m\\x9b5m\\u202e\\b\\r"
    place.write(
        {
            "main.sls": f'"id{evil}":\n  test.configurable_test_state:\n    - result: false\n'
            f'    - changes: false\n    - comment: "c{evil}"\n'
            f'"other{evil}":\n  cmd.run:\n    - name: "printf \'out\\\\033]0;x\\\\007\\\\033[2J\'"\n',
            "bad.sls": f'"{evil}": 5\n"{evil}x":\n  test.nop: "{evil}"\n',
        }
    )
    for words in (
        ("main",),
        ("main", "--state-output=terse"),
        ("main", "--out", "nested"),
        ("main", "--out", "yaml"),
        ("bad",),
        ("main", "--out", "json"),
    ):
        _, text = on_terminal(place, *words)
        left = ALLOWED.sub("", text)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", left), (words, left)
        assert "\x1b[2J" not in text


def test_problems_are_coloured_on_a_terminal_and_have_an_excerpt_with_a_caret(place: Place) -> None:
    code, text = on_terminal(place.write({"main.sls": "a:\n  test.nop: 5\n"}), "main")
    plain = ESCAPES.sub("", text)
    assert code == 3
    assert "main.sls:2:3: " in plain
    assert "  2 |   test.nop: 5\r\n    |   ^" in plain
    assert "\x1b[" in text


@pytest.mark.parametrize("out", ["json", "jsonl", "yaml", "junit", "quiet"])
def test_formats_for_machines_have_no_bar(place: Place, out: str) -> None:
    code, text = on_terminal(
        place.write({"main.sls": "a: {cmd.run: [name: sleep 0.5]}\n"}), "main", "--out", out
    )
    assert code == 0
    assert "░" not in text
    assert "\x1b[J" not in text


@pytest.mark.parametrize("what", ["grains", "lowstate", "order", "highstate"])
def test_data_is_shown_on_a_narrow_terminal(place: Place, what: str) -> None:
    place.write({"top.sls": "base: {'*': [main]}\n", "main.sls": STATES})
    code, text = on_terminal(place, what, columns=20, command="show")
    assert code == 0
    assert "Traceback" not in text
