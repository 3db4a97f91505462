"""The end of a long report: failures and their causes; and what is shown after a live view."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from saltern.language.events import Answer, Report
from saltern.language.result import Outcome
from saltern.report.human import LONG, show
from saltern.report.outputs import OutputOptions

if TYPE_CHECKING:
    from tests.unit.report.conftest import Make


def run_of(make: Make, size: int) -> list[Answer]:
    """Fine states, one that changed, one that failed, and two that it kept from running."""
    answers = [make(f"fine{at}", number=at) for at in range(size)]
    answers.append(make("new", number=size, changes={"a": 1}))
    answers.append(make("bad", number=size + 1, outcome=Outcome.FAILED, comment="no luck\nat all"))
    tag = answers[-1].chunk.tag
    answers += [
        make(
            f"waits{at}", number=size + 2 + at, outcome=Outcome.FAILED, ran=False, extra={"root_cause": [tag]}
        )
        for at in range(2)
    ]
    return answers


def told(answers: list[Answer], **options: object) -> str:
    out = io.StringIO()
    show(Report(answers=answers), OutputOptions(**options), out)  # type: ignore[arg-type]
    return out.getvalue()


def test_a_long_report_ends_with_its_failures_and_what_they_blocked(make: Make) -> None:
    end = told(run_of(make, LONG)).partition("Failures\n--------\n")[2].splitlines()
    assert end[0] == "file.managed bad: no luck"
    assert end[-1] == "    also not run because of this: 2 states (waits0, waits1)"
    assert not [line for line in end if line.startswith("file.managed waits")]


def test_a_short_report_says_it_once(make: Make) -> None:
    assert "Failures\n" not in told(run_of(make, 1))


def test_a_long_report_without_failures_has_no_such_end(make: Make) -> None:
    assert "Failures\n" not in told(run_of(make, LONG)[: LONG + 1])


@pytest.mark.parametrize("width", [40, 80])
def test_it_fits_the_terminal(make: Make, width: int) -> None:
    end = told(run_of(make, LONG), width=width).partition("Failures\n")[2].splitlines()
    assert max(map(len, end)) < width


def test_after_a_live_view_only_what_has_more_to_say_is_shown(make: Make) -> None:
    text = told(run_of(make, 3), seen=True)
    assert "ID: fine" not in text
    assert "ID: new" in text
    assert "ID: bad" in text
    assert "Total states run:     7" in text
    assert "Failures\n" in text


def test_forgiven_failures_are_not_listed(make: Make) -> None:
    answers = run_of(make, LONG)[:-2]
    out = io.StringIO()
    show(Report(answers=answers, forgiven=frozenset({LONG + 1})), OutputOptions(), out)
    assert "Failures\n" not in out.getvalue()


def test_very_many_are_cut_and_that_is_said(make: Make) -> None:
    answers = [make(f"bad{at}", number=at, outcome=Outcome.FAILED) for at in range(45)]
    assert "… and 15 more" in told(answers)
