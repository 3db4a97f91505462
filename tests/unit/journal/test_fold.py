"""A journal has one meaning, however much of it there is: a fold never fails, and what is done stays done."""

from __future__ import annotations

from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fault.machine import dies_at, machine

from saltern.journal.fold import fold
from saltern.journal.form import Record
from saltern.journal.reader import read
from saltern.journal.report import report_of
from saltern.journal.run_state import RunState

STATUSES = {"unbegun", "broken", "interrupted", "failed", "succeeded"}


@cache
def journal() -> list[Record]:
    """Of a run that broke twice and ended."""
    with machine() as one:
        one.apply(dies_at(150))
        one.resume(dies_at(120))
        one.finish()
        return read(str(one.journal()))


def done(state: RunState) -> set[tuple[str, int]]:
    return {(path, place) for path, scope in state.scopes.items() for place in scope.done}


def test_the_journal_has_all_that_a_run_can_have() -> None:
    kinds = {record.kind for record in journal()}
    assert kinds >= {
        "run",
        "sources",
        "plan",
        "start",
        "done",
        "step",
        "rehearsed",
        "frame",
        "stand-in",
        "end",
    }
    assert kinds >= {"listened", "resumed", "frame-end"}


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_any_prefix_has_a_meaning_and_done_only_grows(data: st.DataObject) -> None:
    records = journal()
    first = data.draw(st.integers(0, len(records)))
    second = data.draw(st.integers(first, len(records)))
    before, after = fold(records[:first]), fold(records[:second])
    assert done(before) <= done(after)
    assert before.number <= after.number
    assert before.records == first
    assert {before.status, after.status} <= STATUSES


@given(cut=st.integers(0, 10_000))
@settings(deadline=None, max_examples=25)
def test_any_prefix_can_be_shown(cut: int) -> None:
    state = fold(journal()[: cut % len(journal())])
    shown = report_of(state)
    assert len({answer.number for answer in shown.answers}) == len(shown.answers)


@given(
    st.lists(st.tuples(st.text(max_size=8), st.dictionaries(st.text(max_size=4), st.integers())), max_size=5)
)
@settings(deadline=None, max_examples=100)
def test_kinds_of_a_later_version_are_skipped(strange: list[tuple[str, dict[str, int]]]) -> None:
    plain = fold(journal())
    more = [Record(0, f"later-{kind}", body) for kind, body in strange]
    mixed = fold([*journal()[:10], *more, *journal()[10:]])
    assert (done(mixed), mixed.status, mixed.number) == (done(plain), plain.status, plain.number)


def test_what_was_begun_and_is_not_done_is_in_doubt() -> None:
    with machine() as one:
        one.apply(dies_at(150))
        state = fold(read(str(one.journal())))
    assert state.status == "broken"
    assert all(place not in state.scopes[scope].done for scope, place in state.in_doubt)
    assert fold(journal()).in_doubt == []
