"""When a tree takes long to check, a change checks its own file, and the whole waits."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

import pytest
from tests.lsp.editor import write

from saltern.lsp import checks
from saltern.lsp.checks import Checker, Done, Task
from saltern.lsp.sites import Given, Site, Sites

WEB = "x:\n  test.nop:\n    - require:\n      - pkg: postgres\n  pkg.instaled: []\n"
TREE = {
    "states/top.sls": "base:\n  '*':\n    - web\n    - db\n",
    "states/web.sls": WEB,
    "states/db.sls": "postgres:\n  pkg.installed: []\n",
    "pillar/top.sls": "base:\n  '*':\n    - a\n",
    "pillar/a.sls": "a: 1\n",
}


@contextmanager
def checking(folder: Path, texts: Callable[[Site], dict[str, str]]) -> Iterator[tuple[Checker, Queue[Done]]]:
    site = Sites(Given(), {}).of(str(write(folder, TREE) / "states/web.sls"))
    told: Queue[Done] = Queue()
    checker = Checker(site, Given(), texts=texts, done=told.put)
    try:
        yield checker, told
    finally:
        checker.stop()


def codes(done: Done) -> list[str]:
    return [one.diagnostic.code for one in done.answer.problems]


def task(folder: Path, name: str, *, saved: bool = False) -> Task:
    paths = frozenset({str(folder / name)})
    return Task(paths=paths, saved=paths if saved else frozenset(), whole=saved)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tree takes long."""
    monkeypatch.setattr(checks, "QUICK", -1.0)


@pytest.mark.usefixtures("slow")
def test_a_change_of_a_slow_tree_is_checked_alone_and_then_with_all(tmp_path: Path) -> None:
    with checking(tmp_path, lambda _: {}) as (checker, told):
        checker.ask(task(tmp_path, "states/web.sls"))
        first, second = told.get(timeout=60), told.get(timeout=60)
    assert (first.whole, codes(first)) == (False, ["state-unknown"])
    assert (second.whole, codes(second)) == (True, ["requisite-not-included", "state-unknown"])


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("name", ["pillar/a.sls", "states/top.sls", "states/map.jinja", "states/new.sls"])
def test_what_may_matter_anywhere_is_checked_with_all(tmp_path: Path, name: str) -> None:
    with checking(tmp_path, lambda _: {}) as (checker, told):
        checker.ask(task(tmp_path, name))
        done = told.get(timeout=60)
    assert (done.whole, codes(done)) == (True, ["requisite-not-included", "state-unknown"])


@pytest.mark.usefixtures("slow")
def test_a_file_that_is_saved_is_not_checked_twice(tmp_path: Path) -> None:
    with checking(tmp_path, lambda _: {}) as (checker, told):
        checker.ask(task(tmp_path, "states/web.sls", saved=True))
        done = told.get(timeout=60)
        assert done.whole
        time.sleep(0.3)
        assert told.empty()


def test_a_check_that_is_overtaken_says_nothing(tmp_path: Path) -> None:
    page = str(tmp_path / "states/web.sls")
    texts = {page: "a:\n  pkg.instaled: []\n"}
    with checking(tmp_path, lambda _: dict(texts)) as (checker, told):
        checker.ask(task(tmp_path, "states/web.sls"))
        time.sleep(0.05)
        texts[page] = "a:\n  test.nop: []\n"
        checker.ask(task(tmp_path, "states/web.sls"))
        done = told.get(timeout=60)
        assert (done.texts[page], codes(done)) == (texts[page], [])
        time.sleep(0.3)
        assert told.empty()


def test_a_worker_that_dies_is_reported_and_the_next_one_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with checking(tmp_path, lambda _: {}) as (checker, told):
        monkeypatch.setattr(sys, "executable", "/bin/false")
        checker.ask(task(tmp_path, "states/web.sls"))
        assert "without a reply" in told.get(timeout=60).answer.failed
        monkeypatch.undo()
        checker.ask(task(tmp_path, "states/web.sls"))
        assert told.get(timeout=60).answer.failed == ""


def test_an_answer_that_cannot_be_told_does_not_end_the_checks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = Sites(Given(), {}).of(str(write(tmp_path, TREE) / "states/web.sls"))
    told: Queue[Done] = Queue()
    seen: list[Done] = []

    def fragile(done: Done) -> None:
        told.put(done)
        if not seen:
            seen.append(done)
            raise RuntimeError("the pipe is gone")

    checker = Checker(site, Given(), texts=lambda _: {}, done=fragile)
    for _ in range(2):
        checker.ask(task(tmp_path, "states/web.sls"))
        told.get(timeout=60)
    checker.stop()
    assert "the pipe is gone" in capsys.readouterr().err
