"""How a run went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saltern.language.events import Report
from saltern.language.result import Outcome
from saltern.report.verdict import changed, failed, totals

if TYPE_CHECKING:
    from tests.unit.report.conftest import Make


def test_a_failure_counts_unless_it_was_forgiven(make: Make) -> None:
    bad = make("bad", Outcome.FAILED)
    assert failed(Report(answers=[make(), bad]))
    assert not failed(Report(answers=[make(), bad], forgiven=frozenset({bad.number})))
    assert not failed(Report())


def test_what_would_change_is_changed_and_succeeded(make: Make) -> None:
    report = Report(answers=[make("a"), make("b", Outcome.WOULD_CHANGE)])
    assert changed(report)
    assert not failed(report)
    assert not changed(Report(answers=[make()]))


def test_totals_count_as_salt_does(make: Make) -> None:
    answers = [
        make("a"),
        make("b", changes={"x": 1}, warnings=("w", "v")),
        make("c", Outcome.FAILED, changes={"x": 1}, number=2),
        make("d", Outcome.WOULD_CHANGE, changes={"x": 1}),
        make("e", ran=False),
    ]
    counts = totals(Report(answers=answers, forgiven=frozenset({answers[2].number})))
    assert (counts.total, counts.succeeded, counts.failed) == (5, 4, 1)
    assert (counts.unchanged, counts.changed, counts.warnings) == (1, 3, 1)
    assert (counts.not_run, counts.forgiven) == (1, 1)


def test_of_parallel_states_only_the_longest_takes_time(make: Make) -> None:
    answers = [make("a", took=1), make("b", took=2, parallel=True), make("c", took=3, parallel=True)]
    assert totals(Report(answers=answers)).took == 4
