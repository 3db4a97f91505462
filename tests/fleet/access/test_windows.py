"""Windows by the clock of their zone: over midnight, over the change to summer time, and mistakes."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.access.windows import DAYS, BadWindow, read_window

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str, zone: str = "Europe/Berlin") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


@pytest.mark.parametrize(
    ("window", "moment", "is_open"),
    [
        ("sat 02:00-06:00", "2026-11-14T02:00", True),
        ("sat 02:00-06:00", "2026-11-14T06:00", False),
        ("sat 02:00-06:00", "2026-11-15T03:00", False),
        ("sat,sun 02:00-06:00", "2026-11-15T03:00", True),
        ("fri 22:00-02:00", "2026-11-13T23:59", True),
        ("fri 22:00-02:00", "2026-11-14T01:59", True),
        ("fri 22:00-02:00", "2026-11-13T01:00", False),  # the night that began on Thursday
        ("sun 22:00-02:00", "2026-11-16T01:00", True),  # Monday, after the end of the week
        ("22:00-24:00", "2026-11-16T23:59", True),
        ("22:00-24:00", "2026-11-16T00:00", False),
        ("00:00-24:00", "2026-11-16T12:00", True),
        ("sat-mon 10:00-11:00", "2026-11-16T10:30", True),
        ("sat-mon 10:00-11:00", "2026-11-17T10:30", False),
        ("daily 2:00-3:00", "2026-07-01T02:30", True),
        ("02:00-03:00 UTC", "2026-07-01T04:30", True),  # summer time: two hours ahead
    ],
)
def test_a_window_is_open_by_the_clock_of_its_zone(window: str, moment: str, is_open: bool) -> None:
    assert read_window(window, "Europe/Berlin").is_open(at(moment)) is is_open


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not a window"),
        ("sat", "not a window"),
        ("02:00", "not a window"),
        ("25:00-26:00", "not a time of day"),
        ("02:60-03:00", "not a time of day"),
        ("24:01-03:00", "not a time of day"),
        ("02:00-02:00", "begins when it ends"),
        ("24:00-03:00", "begins when it ends"),
        ("sut 02:00-03:00", "not a day"),
        ("sat- 02:00-03:00", "not a day"),
        ("02:00-03:00 Europe/Berln", "no time zone"),
        ("02:00-03:00 ../../etc/passwd", "not a window"),
        ("02:00-03:00 /etc/passwd", "not a window"),
    ],
)
def test_a_text_that_is_no_window_is_refused_with_a_hint(text: str, says: str) -> None:
    with pytest.raises(BadWindow) as refused:
        read_window(text)
    assert says in refused.value.what and refused.value.fix


minutes = st.integers(0, 24 * 60 - 1)


@given(
    days=st.sets(st.sampled_from(DAYS), min_size=1),
    begin=minutes,
    end=minutes,
    moment=st.integers(1_700_000_000, 1_800_000_000),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns"]),
)
def test_the_next_beginning_is_in_the_future_and_inside_of_the_window(
    days: set[str], begin: int, end: int, moment: int, zone: str
) -> None:
    if begin == end:
        return
    clock = f"{begin // 60:02}:{begin % 60:02}-{end // 60:02}:{end % 60:02}"
    window = read_window(f"{','.join(sorted(days))} {clock}", zone)
    start = window.next_begin(moment)
    assert start > moment
    local = datetime.fromtimestamp(start, ZoneInfo(zone))
    assert DAYS[local.weekday()] in days or abs(start - moment) < 3600 * 26  # a clock that was put forward
    assert read_window(str(window), "UTC") == read_window(str(window), "Asia/Tokyo")
