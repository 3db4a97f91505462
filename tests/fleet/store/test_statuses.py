"""Statuses of a job on a system: what a system reported stays, and what was guessed can be corrected."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.store.statuses import (
    ENDS,
    GUESSES,
    OPEN,
    REPORTED,
    STATUSES,
    after_cancel,
    after_deadline,
    may_follow,
)

NAMES = sorted(STATUSES)
MOVES = st.lists(st.tuples(st.sampled_from(NAMES), st.booleans()), max_size=20)


@pytest.mark.parametrize(("old", "new"), [*product(sorted(REPORTED), NAMES)])
def test_what_a_system_reported_is_never_replaced(old: str, new: str) -> None:
    assert not may_follow(old, new, reported=True)
    assert not may_follow(old, new, reported=False)


@pytest.mark.parametrize(("old", "new"), [*product(sorted(GUESSES), sorted(REPORTED))])
def test_a_late_return_corrects_a_guess(old: str, new: str) -> None:
    assert may_follow(old, new, reported=True)
    assert not may_follow(old, new, reported=False)


@pytest.mark.parametrize(("old", "new"), [*product(sorted(ENDS), sorted(OPEN))])
def test_what_has_ended_does_not_begin_again(old: str, new: str) -> None:
    assert not may_follow(old, new, reported=True)


@given(MOVES)
def test_any_series_of_messages_leads_forward_and_ends_once(moves: list[tuple[str, bool]]) -> None:
    status, ends = "queued", 0
    for new, reported in moves:
        if may_follow(status, new, reported=reported):
            ends += new in ENDS and status not in ENDS
            assert not (status in ENDS and new in OPEN)
            status = new
    assert ends <= 1
    assert (status in ENDS) == (ends == 1)


@pytest.mark.parametrize("status", sorted(OPEN))
def test_every_open_status_ends_when_the_time_is_over(status: str) -> None:
    ended = after_deadline(status)
    assert ended in GUESSES
    assert may_follow(status, ended, reported=False)
    assert (ended == "expired") == (status in ("held", "queued", "sent"))


def test_only_what_was_not_sent_is_cancelled_without_asking() -> None:
    assert {one: after_cancel(one) for one in sorted(OPEN)} == {
        "down": None,
        "held": "cancelled",
        "queued": "cancelled",
        "running": None,
        "sent": None,
    }
