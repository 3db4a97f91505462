"""Retry, on a clock that does not wait."""

from __future__ import annotations

import pytest

from saltern.language.result import Outcome, Result, failed, ok
from saltern.runtime.retry import Retry, read, run_with_retry
from saltern.system.clock import FakeClock


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (True, Retry(attempts=2, until=True, interval=30, splay=0)),
        (False, Retry(attempts=1)),
        ({}, Retry()),
        ({"attempts": 5}, Retry(attempts=5)),
        ({"attempts": "5", "interval": "0.5"}, Retry(attempts=5, interval=0.5)),
        ({"until": False, "splay": 3}, Retry(until=False, splay=3)),
    ],
)
def test_a_rule_is_read_as_written(value: object, rule: Retry) -> None:
    assert read(value) == rule


def run(rule: Retry, *results: Result) -> tuple[Result, FakeClock, int]:
    left = list(results)
    clock = FakeClock()
    result = run_with_retry(lambda: left.pop(0), rule, clock)
    return result, clock, len(results) - len(left)


def test_success_at_once_is_not_repeated_and_adds_nothing() -> None:
    result, clock, calls = run(Retry(attempts=3), ok("fine"))
    assert (result.comment, clock.slept, calls) == ("fine", [], 1)


def test_it_stops_at_the_first_success_and_tells_the_earlier_attempts() -> None:
    result, clock, calls = run(Retry(attempts=5, interval=7), failed("one"), failed("two"), ok("three"))
    assert result.outcome is Outcome.OK
    assert result.comment.splitlines() == [
        'attempt 1: failed, with the comment: "one"',
        'attempt 2: failed, with the comment: "two"',
        "three",
    ]
    assert (clock.slept, calls) == ([7, 7], 3)


def test_the_last_attempt_is_not_followed_by_a_pause() -> None:
    result, clock, calls = run(Retry(attempts=2, interval=7), failed("one"), failed("two"))
    assert result.outcome is Outcome.FAILED
    assert (clock.slept, calls) == ([7], 2)


def test_until_false_waits_for_a_failure() -> None:
    result, _, calls = run(Retry(attempts=3, until=False), ok("one"), failed("two"))
    assert (result.outcome, calls) == (Outcome.FAILED, 2)


def test_no_attempts_is_one() -> None:
    assert run(Retry(attempts=0), failed("one"))[2] == 1


def test_splay_lengthens_the_pause_by_at_most_itself() -> None:
    _, clock, _ = run(Retry(attempts=2, interval=10, splay=5), failed("one"), ok("two"))
    assert 10 <= clock.slept[0] <= 15
