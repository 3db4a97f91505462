"""Whoever acts, it is known before: programs, files, connections; not what only looks."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from saltern.system import effects

PROGRAM = ["true"]


@pytest.fixture
def told() -> Iterator[list[str]]:
    found: list[str] = []
    effects.before(lambda: found.append("effect"))
    yield found
    effects.before(None)


ACTS: dict[str, Callable[[Path], object]] = {
    "a file that is written": lambda at: (at / "new").write_text("x"),
    "one that is opened for both": lambda at: open(at / "file", "r+").close(),
    "a file that is removed": lambda at: os.remove(at / "file"),
    "one that is renamed": lambda at: os.rename(at / "file", at / "other"),
    "a directory": lambda at: os.mkdir(at / "folder"),
    "a link": lambda at: os.symlink("x", at / "link"),
    "rights": lambda at: os.chmod(at / "file", 0o600),
    "times": lambda at: os.utime(at / "file"),
    "a program": lambda _: subprocess.run(PROGRAM, check=True),
    "a database": lambda at: sqlite3.connect(at / "data").close(),
}
LOOKS: dict[str, Callable[[Path], object]] = {
    "a file that is read": lambda at: (at / "file").read_text(),
    "a directory that is listed": lambda at: os.listdir(at),
    "what a file is like": lambda at: os.stat(at / "file"),
}


@pytest.mark.parametrize("what", ACTS)
def test_what_acts_is_reported(what: str, tmp_path: Path, told: list[str]) -> None:
    effects.before(None)
    (tmp_path / "file").write_text("x")
    effects.before(lambda: told.append("effect"))
    ACTS[what](tmp_path)
    assert told


@pytest.mark.parametrize("what", LOOKS)
def test_what_only_looks_is_not(what: str, tmp_path: Path, told: list[str]) -> None:
    effects.before(None)
    (tmp_path / "file").write_text("x")
    effects.before(lambda: told.append("effect"))
    LOOKS[what](tmp_path)
    assert not told


def test_an_effect_that_is_refused_does_not_happen(tmp_path: Path) -> None:
    def refuse() -> None:
        raise ValueError("the disk is full")

    effects.before(refuse)
    try:
        with pytest.raises(ValueError, match="the disk is full"):
            (tmp_path / "new").write_text("x")
    finally:
        effects.before(None)
    assert not (tmp_path / "new").exists()


def test_an_effect_in_another_thread_waits_until_all_is_written(tmp_path: Path) -> None:
    order: list[str] = []

    def slow() -> None:
        order.append("writes")
        time.sleep(0.05)
        order.append("written")

    def act(name: str) -> None:
        (tmp_path / name).write_text("x")
        order.append("acted")

    effects.before(slow)
    try:
        threads = [threading.Thread(target=act, args=(str(number),)) for number in range(3)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    finally:
        effects.before(None)
    assert order[:2] == ["writes", "written"]
    open_writes = 0
    for word in order:
        open_writes += {"writes": 1, "written": -1, "acted": 0}[word]
        assert open_writes in (0, 1)


def test_what_writes_it_down_is_no_effect_itself(tmp_path: Path) -> None:
    calls: list[int] = []

    def write() -> None:
        calls.append(1)
        (tmp_path / "journal").write_text("x")

    effects.before(write)
    try:
        (tmp_path / "new").write_text("x")
    finally:
        effects.before(None)
    assert calls == [1]
