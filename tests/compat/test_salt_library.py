"""Salt's own library, beside us: set SALTERN_SALT_SITE to the site-packages of an environment with Salt."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SITE = os.environ.get("SALTERN_SALT_SITE", "")
PROGRAM = os.path.join(os.path.dirname(__file__), "salt_library.py")
DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "internals", "compat.md")
FEWEST = 60

pytestmark = pytest.mark.skipif(not SITE, reason="SALTERN_SALT_SITE names no environment with Salt")


def _answers(work: Path, mode: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, PROGRAM, SITE, str(work), mode], capture_output=True, text=True, timeout=110
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


def _ran(answer: dict[str, Any]) -> bool:
    """Through to an answer of the state's own: not unknown, not crashed, no function of it missing."""
    if "missing" in answer or "is not available:" in answer["comment"]:
        return False
    return not answer["comment"].startswith(f"{answer['function']} failed")


def _fine(answer: dict[str, Any]) -> bool:
    return _ran(answer) and answer["result"] is not False


def test_at_least_sixty_state_modules_of_salt_run_unchanged(tmp_path: Path) -> None:
    answers = _answers(tmp_path, "first")
    assert [answer for answer in answers if not _ran(answer)] == []
    assert all(answer["provider"] == "salt" for answer in answers)
    fine = {answer["function"].partition(".")[0] for answer in answers if _fine(answer)}
    assert len(fine) >= FEWEST, [answer for answer in answers if not _fine(answer)]


def test_what_saltern_has_itself_is_its_own_and_the_rest_is_salts(tmp_path: Path) -> None:
    by_name = {answer["function"]: answer for answer in _answers(tmp_path, "last")}
    assert by_name["test.succeed_with_changes"]["provider"] == ""
    assert by_name["rabbitmq_user.present"]["provider"] == "salt"
    assert sum(map(_fine, by_name.values())) >= FEWEST


def test_states_of_salt_that_really_act_change_once(tmp_path: Path) -> None:
    answers = _answers(tmp_path, "real")
    half = len(answers) // 2
    assert all(answer["result"] is True for answer in answers), answers
    assert all(answer["changes"] for answer in answers[:half])
    assert not any(answer["changes"] for answer in answers[half:])


def test_the_page_tells_which_modules_were_run() -> None:
    from tests.compat.salt_library import CALLS

    with open(DOCS) as file:
        page = file.read()
    assert [name for name, row in CALLS.items() if f"`{name}.{row[0]}`" not in page] == []
