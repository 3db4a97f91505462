"""How much one system may send, whatever the clock does meanwhile."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.controller.limits import Offences, RateLimit

TIMES = st.lists(st.floats(0, 1e9), min_size=1, max_size=20)


@given(TIMES)
def test_a_clock_that_is_set_back_takes_nothing_from_a_system(times: list[float]) -> None:
    now = [1e6]
    limit = RateLimit(1.0, 5.0, lambda: now[0])
    assert limit.allow("web1")
    for one in times:
        now[0] = one
        limit.allow("other")
    assert limit.allow("web1")


@given(st.integers(1, 50))
def test_what_exceeds_the_burst_is_refused_until_time_has_passed(burst: int) -> None:
    now = [0.0]
    limit = RateLimit(1.0, burst, lambda: now[0])
    assert [limit.allow("web1") for _ in range(burst + 3)] == [True] * burst + [False] * 3
    now[0] += 1
    assert [limit.allow("web1"), limit.allow("web1")] == [True, False]


def test_an_offence_is_reported_once_a_minute_and_also_after_the_clock_was_set_back() -> None:
    now = [1e6]
    offences = Offences(lambda: now[0])
    assert [offences.count("web1", "flood") for _ in range(4)] == [1, 0, 0, 0]
    now[0] += 60
    assert offences.count("web1", "flood") == 4
    now[0] -= 86_400
    assert offences.count("web1", "flood") == 1
    assert offences.reasons["flood"] == 6
