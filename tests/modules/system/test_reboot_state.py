"""``system.reboot`` and ``saltern.updated`` before anything goes down: test mode, bad input, no journal."""

from __future__ import annotations

from pathlib import Path

import pytest

import saltern
from saltern.config.settings import Settings
from saltern.engine.session import Session
from saltern.engine.single import single
from saltern.language.result import Outcome, Result


def called(place: Path, state: str, args: dict[str, object], *, test: bool = False) -> Result:
    """A single state keeps no journal, so nothing can go down."""
    settings = Settings(file_roots={"base": [str(place)]}, pillar_roots={}, test=test)
    (answer,) = single(Session(settings), state, "thing", args).answers
    return answer.result


def test_test_mode_says_why_it_would_reboot(tmp_path: Path) -> None:
    result = called(tmp_path, "system.reboot", {"only_on_pending_reboot": False}, test=True)
    assert result.outcome is Outcome.WOULD_CHANGE
    assert result.changes == {"reboot": {"old": ["asked for"], "new": "rebooted"}}


def test_without_a_journal_nothing_is_rebooted_and_that_is_a_failure(tmp_path: Path) -> None:
    result = called(tmp_path, "system.reboot", {"only_on_pending_reboot": False})
    assert result.outcome is Outcome.FAILED
    assert "this run has no journal" in result.comment


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"notice": -1}, "notice cannot be negative"),
        ({"start_deadline": "soon"}, "needs a number"),
        ({"checks": [3]}, "a check is a command"),
        ({"checks": [{"args": []}]}, "a check is a command"),
    ],
)
def test_bad_input_to_a_reboot_is_reported(tmp_path: Path, args: dict[str, object], said: str) -> None:
    result = called(tmp_path, "system.reboot", args)
    assert result.outcome is Outcome.FAILED
    assert said in result.comment


def test_the_version_that_is_running_is_not_installed(tmp_path: Path) -> None:
    result = called(tmp_path, "saltern.updated", {"version": saltern.__version__, "slots": str(tmp_path)})
    assert result.outcome is Outcome.OK
    assert result.changes == {}
    assert list(tmp_path.iterdir()) == []


def test_test_mode_says_which_version_there_would_be(tmp_path: Path) -> None:
    result = called(tmp_path, "saltern.updated", {"version": "99.1", "slots": str(tmp_path)}, test=True)
    assert result.outcome is Outcome.WOULD_CHANGE
    assert result.changes == {"saltern": {"old": saltern.__version__, "new": "99.1"}}


@pytest.mark.parametrize("version", ["--index-url=x", ">=2", "1.0 --pre", ""])
def test_a_version_that_is_none_is_refused(tmp_path: Path, version: str) -> None:
    result = called(tmp_path, "saltern.updated", {"version": version, "slots": str(tmp_path)})
    assert result.outcome is Outcome.FAILED
    assert "version" in result.comment
    assert list(tmp_path.iterdir()) == []
