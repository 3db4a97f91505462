"""The table of statuses is closed: every pair is either listed, and moves, or is not, and is refused."""

from __future__ import annotations

from itertools import product

import pytest

from saltern.chains.statuses import MOVES, OVER, ROWS, Leg, Run, Status, Step, Wave, WrongMove, check_move

LEVELS: tuple[type[Step] | type[Leg] | type[Wave] | type[Run], ...] = (Step, Leg, Wave, Run)
PAIRS = [pair for level in LEVELS for pair in product(level, level)]


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_a_move_is_made_exactly_if_the_table_has_it(before: Status, after: Status) -> None:
    if before is after or after in MOVES[before]:
        check_move(before, after)
        return
    with pytest.raises(WrongMove, match=f"from {before.value} to {after.value}"):
        check_move(before, after)


def test_every_status_has_one_row_and_a_meaning() -> None:
    listed = [row.status for row in ROWS]
    assert len(listed) == len(set(listed))
    assert set(listed) == {status for level in LEVELS for status in level}
    assert all(row.means for row in ROWS)


def test_no_move_leaves_its_level() -> None:
    for row in ROWS:
        assert {type(one) for one in row.to} <= {type(row.status)}


def test_every_status_can_be_reached_from_the_first() -> None:
    for first in (Step.NOT_RUN, Leg.PENDING, Wave.PENDING, Run.DRAFT):
        seen: set[Status] = set()
        left: list[Status] = [first]
        while left:
            one = left.pop()
            if one not in seen:
                seen.add(one)
                left += MOVES[one]
        assert seen == set(type(first))


def test_every_open_leg_can_come_to_an_end() -> None:
    for status in set(Leg) - OVER:
        seen: set[Status] = set()
        left: list[Status] = [status]
        while left:
            one = left.pop()
            if one not in seen:
                seen.add(one)
                left += MOVES[one]
        assert seen & OVER


def test_what_has_succeeded_stays_so() -> None:
    for status in (Step.SUCCEEDED, Step.SKIPPED, Leg.SUCCEEDED, Leg.SUCCEEDED_WITH_SKIPS, Run.SUCCEEDED):
        assert not MOVES[status]
