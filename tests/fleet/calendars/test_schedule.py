"""When a schedule fires, what it leaves out, and that no time is lost or counted twice."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.calendars.schedule import BadSchedule, Timing, check_timing, due, next_fire

HOUR = 3600.0
DAILY = Timing(cron="30 2 * * *", zone="Europe/Berlin")
HOURLY = Timing(cron="@hourly")


def at(text: str, zone: str = "Europe/Berlin") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


def test_a_schedule_fires_by_the_clock_of_its_zone() -> None:
    assert next_fire(DAILY, at("2026-11-16T12:00")) == at("2026-11-17T02:30")


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_a_night_in_which_the_clock_is_changed_has_one_run(day: str) -> None:
    first = next_fire(DAILY, at(f"{day}T00:00"))
    assert next_fire(DAILY, first) > at(f"{day}T23:59")


@pytest.mark.parametrize(
    "timing", [Timing(cron="often"), Timing(cron="0 0 31 2 *"), Timing(cron="* * * * *", zone="x")]
)
def test_what_is_no_schedule_is_refused(timing: Timing) -> None:
    with pytest.raises(BadSchedule):
        check_timing(timing)


def test_nothing_is_due_before_its_time() -> None:
    assert due(HOURLY, 2 * HOUR, HOUR, busy=False).fires == ()


@pytest.mark.parametrize(
    ("catch_up", "fires", "left"),
    [("none", (), 3), ("one", (3 * HOUR,), 2), ("all", (HOUR, 2 * HOUR, 3 * HOUR), 0)],
)
def test_times_that_were_missed(catch_up: str, fires: tuple[float, ...], left: int) -> None:
    timing = Timing(cron="@hourly", catch_up=catch_up)  # type: ignore[arg-type]
    found = due(timing, HOUR, 3.5 * HOUR, busy=False)
    assert (found.fires, len(found.left_out), found.next_at) == (fires, left, 4 * HOUR)


@pytest.mark.parametrize(("overlap", "fires"), [("skip", 0), ("queue", 0), ("allow", 1)])
def test_a_run_that_is_not_over(overlap: str, fires: int) -> None:
    timing = Timing(cron="@hourly", overlap=overlap)  # type: ignore[arg-type]
    found = due(timing, HOUR, HOUR, busy=True)
    assert len(found.fires) == fires
    assert found.next_at == (HOUR if overlap == "queue" else 2 * HOUR)
    if overlap == "queue":
        assert due(timing, found.next_at, 1.2 * HOUR, busy=False).fires == (HOUR,)


@given(
    st.sampled_from(["none", "one", "all"]),
    st.sampled_from(["skip", "queue", "allow"]),
    st.lists(st.tuples(st.floats(0, 5 * HOUR), st.booleans()), min_size=1, max_size=20),
)
def test_no_time_is_lost_and_none_counts_twice(
    catch_up: str, overlap: str, looks: list[tuple[float, bool]]
) -> None:
    timing = Timing(cron="*/30 * * * *", catch_up=catch_up, overlap=overlap)  # type: ignore[arg-type]
    next_at, now = 1800.0, 0.0
    seen: list[float] = []
    for ahead, busy in looks:
        now += ahead
        found = due(timing, next_at, now, busy=busy)
        seen += [*found.left_out, *found.fires]
        next_at = found.next_at
        assert all(one <= now for one in found.fires)
    expected = [1800.0 * number for number in range(1, int(next_at / 1800))]
    assert sorted(seen) == expected
