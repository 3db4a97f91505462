from __future__ import annotations

import pytest

from saltern.targeting.ranges import in_range


@pytest.mark.parametrize(
    ("name", "target", "expected"),
    [
        ("web2", "web[1-3]", True),
        ("web4", "web[1-3]", False),
        ("web02", "web[01-10]", True),
        ("web2", "web[01-10]", False),
        ("web7", "web[1,4,7-9]", True),
        ("web5", "web[1,4,7-9]", False),
        ("r2n7", "r[1-2]n[5-9]", True),
        ("r3n7", "r[1-2]n[5-9]", False),
        ("db1", "web[1-3], db1", True),
        ("web1.a", "web[1-3]", False),
        ("w.b1", "w.b1", True),
        ("wxb1", "w.b1", False),
        ("web999999999", "web[1-999999999999]", True),
    ],
)
def test_a_name_is_in_the_range_or_not(name: str, target: str, expected: bool) -> None:
    assert in_range(name, target) is expected
