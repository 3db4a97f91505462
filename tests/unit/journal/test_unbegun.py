"""A run that breaks before its journal has anything to say is known by what it wrote into the lock."""

from __future__ import annotations

from pathlib import Path

from saltern.config.settings import Settings
from saltern.journal.runs import Runs


def broken(base: Path, jid: str, asked: str) -> Runs:
    """As a process leaves it that is killed right after it has made the file."""
    runs = Runs(Settings(state_dir=str(base)))
    with runs.lock.hold(jid, 1_700_000_000.0, asked=asked):
        Path(runs.folder).mkdir(parents=True, exist_ok=True)
        Path(runs.path(jid)).touch()
    return runs


def test_a_run_that_had_not_begun_names_what_was_asked(tmp_path: Path) -> None:
    (row,) = broken(tmp_path, "1", "web db only nginx").summaries()
    assert (row.status, row.asked, row.started) == ("unbegun", "web db only nginx", 1_700_000_000.0)


def test_of_an_older_one_nothing_wrong_is_said(tmp_path: Path) -> None:
    broken(tmp_path, "1", "web")
    second, first = broken(tmp_path, "2", "x" * 5000).summaries()
    assert (second.jid, second.asked) == ("2", "x" * 500)
    assert (first.jid, first.asked) == ("1", "")  # and not 'highstate', which nobody had asked for
