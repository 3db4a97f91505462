"""Root uses no state directory, journal or configuration of another user."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.command import NOBODY, is_told_well
from tests.fault.machine import DEAD, die, machine

from saltern.config import files
from saltern.journal.runs import Runs
from saltern.language.diagnostics import OperationError

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has something to lose")
COUNTING = {"main.sls": "a:\n  cmd.run: [{name: \"echo a >> {{ pillar['at'] }}/log\"}]\n"}
COMMANDS = [
    ("apply", "main"),
    ("resume",),
    ("runs",),
    ("show", "run"),
    ("chain", "status"),
    ("chain", "resume"),
]


@pytest.mark.parametrize("words", COMMANDS)
def test_a_state_directory_of_another_user_is_refused(words: tuple[str, ...]) -> None:
    with machine(COUNTING) as one:
        (one.base / "runs").mkdir(exist_ok=True)
        os.chown(one.base / "runs", NOBODY, NOBODY)
        done = one.place.run(*words)
        is_told_well(done)
        assert done.code == 1
        assert "root does not use it" in done.err
        assert "chown" in done.err
        assert not one.log()


@pytest.mark.parametrize("side", ["", "-wal", ".mark"])
def test_a_journal_of_another_user_is_not_resumed(side: str) -> None:
    with machine(COUNTING) as one:
        assert one.apply(lambda name: die() if name == "keeper.told" else None).code == DEAD
        os.chown(f"{one.journal()}{side}", NOBODY, NOBODY)
        before = one.log()
        done = one.resume()
        is_told_well(done)
        assert (done.code, one.log()) == (1, before)
        assert "belongs to" in done.err
        assert [run.status for run in one.summaries()] == ["unreadable"]


def test_a_configuration_that_nobody_named_must_be_roots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "saltern" / "saltern.yaml"
    place.parent.mkdir()
    place.write_text("id: a\n")
    monkeypatch.setattr(files, "MACHINE", (str(tmp_path / "none"), str(tmp_path / "none")))
    monkeypatch.chdir(tmp_path)
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert files.find(None, environ) == (str(place), [])
    os.chown(place, NOBODY, NOBODY)
    with pytest.raises(OperationError, match="belongs to"):
        files.find(None, environ)
    assert files.find(str(place), environ)[0] == str(place), "whoever names it means it"


def test_looking_takes_no_lock() -> None:
    with machine(COUNTING) as one:
        assert one.apply().code == 0
        runs = Runs(one.settings)
        with open(one.base / "runs" / "lock", "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_SH)  # any attempt to take it would fail, and seem to be a run
            assert runs.holder() is None
        with runs.locked("1", 0.0):
            seen = [
                sys.executable,
                "-P",
                "-c",
                f"""
from saltern.config.settings import Settings
from saltern.journal.runs import Runs
print(Runs(Settings(state_dir={one.settings.state_dir!r})).holder().jid)
""",
            ]
            assert subprocess.run(seen, capture_output=True, text=True, check=True).stdout == "1\n"
        assert runs.holder() is None
