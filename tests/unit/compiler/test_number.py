"""Orders as written become numbers."""

from __future__ import annotations

import pytest
from tests.kit import chunk

from saltern.compiler.number import number
from saltern.language.diagnostics import Diagnostics


def numbered(orders: list[object], places: list[int] | None = None) -> tuple[list[float], Diagnostics]:
    found = Diagnostics()
    chunks = [chunk(f"c{n}") for n in range(len(orders))]
    number(chunks, orders, places or [0] * len(orders), [], found)
    return [one.order for one in chunks], found


@pytest.mark.parametrize(
    ("orders", "numbers"),
    [
        ([10000, 10001], [10000, 10001]),
        ([5, 1.5, 0], [5, 1.5, 0]),
        (["5", "1.5"], [5, 1.5]),
        (["first", 5], [0, 5]),
        ([5, "last"], [5, 1_000_105]),
        ([5, -1, -2], [5, 1_000_104, 1_000_103]),
        ([5, "-1"], [5, 1_000_104]),
        ([5, None], [5, 105]),
        ([5.5, None], [5.5, 1]),  # fractions do not count for what is beyond
        ([10000, 10050, None], [10000, 10050, 10100]),  # counted a hundred at a time
    ],
)
def test_each_kind_of_order_has_its_number(orders: list[object], numbers: list[float]) -> None:
    got, found = numbered(orders)
    assert got == numbers
    assert not found


def test_last_is_after_minus_one_is_after_everything_else() -> None:
    (plain, last, minus, none), _ = numbered([20000, "last", -1, None])
    assert plain < none < minus < last


def test_members_of_names_follow_each_other_by_a_ten_thousandth() -> None:
    got, _ = numbered([7, 7, 7, 8], [1, 2, 3, 0])
    assert got == [7.0001, 7.0002, 7.0003, 8]


@pytest.mark.parametrize("order", ["soon", True, [], {}, "1e", ""])
def test_anything_else_comes_after_the_numbers_and_is_reported(order: object) -> None:
    (plain, odd), found = numbered([10, order])
    assert odd > plain
    assert [one.code for one in found.warnings] == ["order-unknown"]
