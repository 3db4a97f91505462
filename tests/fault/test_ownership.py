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


@pytest.mark.parametrize("side", ["", ".mark"])
def test_a_journal_of_another_user_is_not_resumed(side: str) -> None:
    with machine(COUNTING) as one:
        assert one.apply(lambda name: die() if name == "keeper.answered" else None).code == DEAD
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


MODES = [(0o777, False), (0o757, False), (0o1777, True), (0o755, True), (0o700, True)]


@pytest.mark.parametrize(("mode", "used"), MODES)
def test_a_state_directory_that_others_can_write_is_refused(mode: int, used: bool) -> None:
    with machine(COUNTING) as one:
        os.chmod(one.base / "runs", mode)
        done = one.apply()
        is_told_well(done)
        assert (done.code, sum(one.log().values())) == ((0, 1) if used else (1, 0))
        if not used:
            assert "can be written by other users" in done.err
            assert "chmod" in done.err


@pytest.mark.parametrize(("group", "used"), [(0, True), (NOBODY, False)])
def test_a_group_that_can_write_is_another_user_unless_it_is_roots(group: int, used: bool) -> None:
    with machine(COUNTING) as one:
        os.chown(one.base / "runs", 0, group)
        os.chmod(one.base / "runs", 0o770)
        assert one.apply().code == (0 if used else 1)


@pytest.mark.parametrize("name", ["runs", "chains", "lock"])
def test_what_another_user_has_planted_in_a_directory_for_all_is_refused(name: str) -> None:
    with machine(COUNTING) as one:
        os.chmod(one.base / "runs", 0o1777)
        planted = one.base / "runs" / name
        planted.touch() if name == "lock" else planted.mkdir()
        os.chown(planted, NOBODY, NOBODY)
        done = one.place.run("chain", "status") if name == "chains" else one.apply()
        is_told_well(done)
        assert done.code == 1
        assert f"{planted} belongs to" in done.err
        assert not one.log()


def test_a_link_is_as_foreign_as_what_it_leads_to() -> None:
    with machine(COUNTING) as one:
        real = one.base / "real"
        real.mkdir()
        (one.base / "runs").rmdir()
        (one.base / "runs").symlink_to(real)
        assert one.apply().code == 0
        os.chown(real, NOBODY, NOBODY)
        done = one.apply()
        assert (done.code, "belongs to" in done.err) == (1, True)
        os.chown(real, 0, 0)
        os.lchown(one.base / "runs", NOBODY, NOBODY)
        assert one.apply().code == 1, "its owner could let it lead elsewhere"


def _included(base: Path, how: str) -> tuple[Path, Path]:
    """A main file, and one that it brings in."""
    main = base / "saltern.yaml"
    texts = {
        "default": ("id: a\n", "saltern.d/more.conf"),
        "default_include": ("default_include: parts/*.conf\n", "parts/more.conf"),
        "include": ("include: more.yaml\n", "more.yaml"),
        "include of an include": ("include: first.yaml\n", "more.yaml"),
    }
    text, name = texts[how]
    main.write_text(text)
    (base / "first.yaml").write_text("include: more.yaml\n")
    (base / name).parent.mkdir(exist_ok=True)
    (base / name).write_text("id: b\n")
    return main, base / name


@pytest.mark.parametrize("how", ["default", "default_include", "include", "include of an include"])
def test_what_a_configuration_includes_must_be_roots_too(tmp_path: Path, how: str) -> None:
    main, more = _included(tmp_path, how)
    assert files.read(str(main)).values["id"] == "b"
    for owner, mode in ((NOBODY, 0o644), (0, 0o666)):
        os.chown(more, owner, owner)
        more.chmod(mode)
        with pytest.raises(OperationError, match=r"root does not read it") as problem:
            files.read(str(main))
        assert str(more) in str(problem.value)
        assert "chown root" in str(problem.value)


def test_who_names_a_configuration_trusts_its_owner(tmp_path: Path) -> None:
    main, more = _included(tmp_path, "include")
    for path in (main, more):
        os.chown(path, NOBODY, NOBODY)
    assert files.read(str(main)).values["id"] == "b"
    os.chown(more, NOBODY - 1, NOBODY - 1)
    with pytest.raises(OperationError, match="belongs to"):
        files.read(str(main))


def test_looking_takes_no_lock() -> None:
    with machine(COUNTING) as one:
        assert one.apply().code == 0
        runs = Runs(one.settings)
        with open(one.base / "runs" / "lock", "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_SH)  # any attempt to take it would fail, and seem to be a run
            assert runs.lock.holder() is None
        with runs.lock.hold("1", 0.0):
            seen = [
                sys.executable,
                "-P",
                "-c",
                f"""
from saltern.config.settings import Settings
from saltern.journal.runs import Runs
print(Runs(Settings(state_dir={one.settings.state_dir!r})).lock.holder().jid)
""",
            ]
            assert subprocess.run(seen, capture_output=True, text=True, check=True).stdout == "1\n"
        assert runs.lock.holder() is None
