"""Repositories in directories of another user, who exchanges names while root works there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.modules.exchange import OTHER, exchanged, open_directory
from tests.modules.file.conftest import Desk

from saltern.language.result import Outcome
from saltern.modules.states.git.cloned import cloned
from saltern.modules.states.git.latest import latest
from saltern.modules.states.git.present import present
from saltern.modules.states.virtualenv import managed as environment

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def desk() -> Iterator[Desk]:
    with open_directory() as place:
        yield Desk(place)


@pytest.fixture
def home(desk: Desk) -> str:
    """A directory of another user, with a link to a victim in it."""
    os.mkdir(desk.at("victim"))
    os.mkdir(desk.at("home"))
    os.symlink(desk.at("victim"), desk.at("home/trap"))
    for name in ("home", "home/trap"):
        os.lchown(desk.at(name), OTHER, OTHER)
    return desk.at("home")


@pytest.fixture
def raced(home: str) -> Iterator[str]:
    os.mkdir(f"{home}/copy")
    os.chown(f"{home}/copy", OTHER, OTHER)
    with exchanged(home, "copy", "trap"):
        yield home


def git(path: str, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, "-C", path, *words], check=True, capture_output=True)


@pytest.fixture
def remote(desk: Desk) -> str:
    path = desk.at("remote")
    os.mkdir(path)
    git(path, "init", "-q", "-b", "main")
    commit(desk, "first")
    return path


def commit(desk: Desk, name: str) -> None:
    desk.put(f"remote/dir/{name}", name)
    os.symlink("/etc/hostname", desk.at(f"remote/link-{name}"))
    git(desk.at("remote"), "add", ".")
    git(desk.at("remote"), "commit", "-q", "-m", name)


def test_a_clone_and_its_updates_work_in_a_directory_of_another_user(
    desk: Desk, home: str, remote: str
) -> None:
    target = f"{home}/work"
    assert desk.call(cloned, remote, target=target).outcome is Outcome.OK
    assert Path(target, "dir/first").read_text() == "first"
    assert os.readlink(f"{target}/link-first") == "/etc/hostname"
    assert os.stat(f"{target}/.git/config").st_uid == 0
    result = desk.call(latest, remote, target=target, rev="main")
    assert (result.outcome, result.changes) == (Outcome.OK, {})
    commit(desk, "second")
    result = desk.call(latest, remote, target=target, rev="main")
    assert result.outcome is Outcome.OK, result.comment
    assert Path(target, "dir/second").read_text() == "second"
    assert desk.call(present, f"{home}/bare", bare=True).outcome is Outcome.OK
    assert os.path.isfile(f"{home}/bare/HEAD")


def test_a_clone_in_a_directory_of_another_user_cannot_be_raced(desk: Desk, raced: str, remote: str) -> None:
    for _ in range(12):
        desk.call(cloned, remote, target=f"{raced}/copy")
        desk.call(latest, remote, target=f"{raced}/copy", force_clone=True, force_reset=True)
        assert os.listdir(desk.at("victim")) == []


def test_an_update_in_a_directory_of_another_user_cannot_be_raced(desk: Desk, home: str, remote: str) -> None:
    assert desk.call(cloned, remote, target=f"{home}/copy").outcome is Outcome.OK
    with exchanged(home, "copy", "trap"):
        for number in range(6):
            commit(desk, f"number-{number}")
            desk.call(latest, remote, target=f"{home}/copy", rev="main", force_reset=True)
            assert os.listdir(desk.at("victim")) == []


def test_a_virtual_environment_in_a_directory_of_another_user_needs_a_user(desk: Desk, home: str) -> None:
    result = desk.call(environment, f"{home}/env")
    assert result.outcome is Outcome.FAILED
    assert "user:" in result.comment
    assert os.listdir(home) == ["trap"]


def test_submodules_there_need_a_user(desk: Desk, home: str, remote: str) -> None:
    result = desk.call(latest, remote, target=f"{home}/work", rev="main", submodules=True)
    assert result.outcome is Outcome.FAILED
    assert "user:" in result.comment
