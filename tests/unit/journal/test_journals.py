"""The store that journals of runs and of chains share: names, reading, what is set aside, what is old."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.chains.legs import Legs
from saltern.config.settings import Settings
from saltern.journal.folder import remove
from saltern.journal.form import ASIDE, Damaged, Record
from saltern.journal.journals import Journals, Wording
from saltern.journal.lock_file import LockFile, sign, take
from saltern.journal.runs import Runs
from saltern.journal.store import Writer
from saltern.language.diagnostics import Diagnostic, OperationError

WORDING = Wording(
    suffix=".log",
    unknown=lambda name, meant: Diagnostic(code="log-unknown", what=f"no log is called {name!r}", fix=meant),
    title="log {name}",
    unreadable="{path} stays",
    damaged="not used again",
    set_aside="it is {aside}",
    no_folder="logs cannot be written",
)


def kinds(_name: str, records: list[Record]) -> list[str]:
    if any(record.kind == "odd" for record in records):
        raise KeyError("odd")
    return [record.kind for record in records]


@contextmanager
def store(*names: str, keep: int = 100) -> Iterator[Journals[list[str]]]:
    with TemporaryDirectory() as folder:
        journals = Journals(folder, WORDING, kinds, keep=keep)
        for name in names:
            write(journals, name, "one")
        yield journals


def write(journals: Journals[list[str]], name: str, kind: str) -> None:
    writer = Writer(journals.path(name))
    writer.add(kind, {})
    writer.sync()
    writer.close()


NUMBERS = st.integers(10**19, 10**20 - 2)  # twenty digits, as a time is written


@given(st.lists(NUMBERS, unique=True, max_size=5), NUMBERS)
def test_a_new_name_is_later_than_all_there_are(there: list[int], wanted: int) -> None:
    with TemporaryDirectory() as folder:
        journals = Journals(folder, WORDING, kinds, keep=1)
        for number in there:
            Path(journals.path(str(number))).touch()
        found = journals.next_name(str(wanted))
        assert found >= str(wanted)
        assert all(int(found) > number for number in there)


def test_an_unknown_name_is_an_error_with_what_was_meant() -> None:
    with store("20260101") as journals, pytest.raises(OperationError) as problem:
        journals.load("20260102")
    (found,) = problem.value.diagnostics
    assert (found.code, found.what) == ("log-unknown", "no log is called '20260102'")
    assert "20260101" in (found.fix or "")


def test_records_that_do_not_fit_are_damage_and_are_set_aside_once() -> None:
    with store("1") as journals:
        write(journals, "2", "odd")
        assert journals.load("1") == ["one"]
        assert (journals.is_damaged("1"), journals.is_damaged("2")) == (False, True)
        with pytest.raises(OperationError, match="inconsistent"):
            journals.load("2")
        assert journals.set_aside("2")
        assert not journals.set_aside("2")
        assert os.path.exists(journals.path("2") + ASIDE)
        assert journals.names() == ["2", "1"]  # it stays listed
        with pytest.raises(Damaged):
            journals.read("2")
        with pytest.raises(OperationError) as problem:
            journals.load("2")
        assert problem.value.diagnostics[0].fix == f"it is {journals.aside_path('2')}"


def test_only_what_is_old_is_offered_for_removal_and_a_failure_stops_nothing() -> None:
    with store("1", "2", "3", "4", keep=2) as journals:

        def one(name: str) -> None:
            if name == "2":
                raise Damaged("it")
            remove(journals.path(name))

        journals.prune(one)
        assert journals.names() == ["4", "3", "2"]


def test_a_folder_that_cannot_be_listed_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OperationError, match="logs cannot be written"):
        Journals(str(tmp_path / "file"), WORDING, kinds, keep=1).names()


def test_a_lock_says_who_holds_it_and_who_held_it_last(tmp_path: Path) -> None:
    lock = LockFile(str(tmp_path / "sub" / "lock"))
    assert (lock.holder(), lock.last_holder()) == (None, b"")
    file = lock.open()
    take(file)
    sign(file, b"a long text")
    sign(file, b"me")
    assert (lock.holder(), lock.last_holder()) == (b"me", b"me")
    other = lock.open()
    with pytest.raises(BlockingIOError):
        take(other)
    os.close(file)
    assert (lock.holder(), lock.last_holder()) == (None, b"me")
    take(other)
    os.close(other)


def test_runs_and_chains_use_it(tmp_path: Path) -> None:
    settings = Settings(state_dir=str(tmp_path))
    runs, legs = Runs(settings), Legs(settings)
    with pytest.raises(OperationError, match="no run is called '5'"):
        runs.state("5")
    with pytest.raises(OperationError, match="no run of a chain is called '5'"):
        legs.load("5")
    busy = pytest.raises(OperationError, match="a chain is running on this machine: 7")
    with legs.lock.hold("7"), busy, legs.lock.hold("8"):
        pass
    assert legs.lock.holder() == ""
