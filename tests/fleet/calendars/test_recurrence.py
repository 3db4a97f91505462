"""Rules of iCalendar: by examples, and day by day."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from itertools import islice, takewhile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.calendars.recurrence import BadRule, read_rule, starts

FIRST = datetime(2026, 11, 16, 2, 30)


def days(rule: str, count: int = 4, first: datetime = FIRST) -> list[str]:
    return [f"{one:%m-%d}" for one in islice(starts(read_rule(rule), first), count)]


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("FREQ=DAILY", ["11-16", "11-17", "11-18", "11-19"]),
        ("FREQ=DAILY;INTERVAL=3;COUNT=2", ["11-16", "11-19"]),
        ("FREQ=WEEKLY;BYDAY=SA,SU", ["11-21", "11-22", "11-28", "11-29"]),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE", ["11-16", "11-18", "11-30", "12-02"]),
        ("FREQ=MONTHLY;BYDAY=2TU", ["12-08", "01-12", "02-09", "03-09"]),
        ("FREQ=MONTHLY;BYDAY=-1SU", ["11-29", "12-27", "01-31", "02-28"]),
        ("FREQ=MONTHLY;BYMONTHDAY=-1", ["11-30", "12-31", "01-31", "02-28"]),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", ["11-30", "12-31", "01-29", "02-26"]),
        ("FREQ=YEARLY;BYMONTH=3,12", ["12-16", "03-16", "12-16", "03-16"]),
        ("FREQ=DAILY;UNTIL=20261118", ["11-16", "11-17", "11-18"]),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", []),
    ],
)
def test_a_rule_means_these_days(rule: str, found: list[str]) -> None:
    assert days(rule) == found


@pytest.mark.parametrize(
    "rule",
    (
        *(
            "",
            "FREQ=HOURLY",
            "BYDAY=MO",
            "FREQ=DAILY;COUNT=0",
            "FREQ=DAILY;BYDAY=XX",
            "FREQ=WEEKLY;BYDAY=2MO",
        ),
        *("FREQ=DAILY;COUNT=1;UNTIL=20270101", "FREQ=DAILY;BYMONTH=13", "FREQ=DAILY;BYHOUR=3"),
    ),
)
def test_a_rule_that_is_not_understood_is_refused(rule: str) -> None:
    with pytest.raises(BadRule):
        read_rule(rule)


DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
RULES = st.fixed_dictionaries(
    {"FREQ": st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"])},
    optional={
        "INTERVAL": st.integers(1, 5),
        "BYDAY": st.lists(st.sampled_from(DAYS), min_size=1, unique=True),
        "BYMONTHDAY": st.lists(st.sampled_from([1, 13, 29, 31, -1, -30]), min_size=1, unique=True),
        "BYMONTH": st.lists(st.integers(1, 12), min_size=1, unique=True),
    },
)


def _is_meant(rule: dict[str, Any], first: date, day: date) -> bool:
    """The same rule as a question about one day."""
    last = calendar.monthrange(day.year, day.month)[1]
    weeks = (day - timedelta(day.weekday()) - first + timedelta(first.weekday())).days // 7
    months = (day.year - first.year) * 12 + day.month - first.month
    periods = {
        "DAILY": (day - first).days,
        "WEEKLY": weeks,
        "MONTHLY": months,
        "YEARLY": day.year - first.year,
    }
    by_day, by_month_day, by_month = (rule.get(key) for key in ("BYDAY", "BYMONTHDAY", "BYMONTH"))
    unnamed = not by_day and not by_month_day
    return (
        periods[rule["FREQ"]] % rule.get("INTERVAL", 1) == 0
        and (not by_month or day.month in by_month)
        and (not by_day or DAYS[day.weekday()] in by_day)
        and (not by_month_day or day.day in by_month_day or day.day - last - 1 in by_month_day)
        and (not unnamed or rule["FREQ"] != "WEEKLY" or day.weekday() == first.weekday())
        and (not unnamed or rule["FREQ"] not in ("MONTHLY", "YEARLY") or day.day == first.day)
        and (not unnamed or rule["FREQ"] != "YEARLY" or bool(by_month) or day.month == first.month)
    )


@given(RULES, st.dates(date(2020, 1, 1), date(2027, 1, 1)))
def test_a_rule_means_the_days_for_which_it_holds(rule: dict[str, Any], first: date) -> None:
    text = ";".join(
        f"{key}={','.join(map(str, value)) if isinstance(value, list) else value}"
        for key, value in rule.items()
    )
    end = first + timedelta(days=1200)
    every = (first + timedelta(days=ahead) for ahead in range(1200))
    begun = starts(read_rule(text), datetime.combine(first, FIRST.time()))
    found = list(takewhile(lambda one: one.date() < end, begun))
    assert [one.date() for one in found] == [day for day in every if _is_meant(rule, first, day)]


@given(
    st.sampled_from(
        [
            "FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY;BYDAY=MO,TH", "FREQ=WEEKLY;INTERVAL=2",
            "FREQ=MONTHLY;BYMONTHDAY=-1", "FREQ=MONTHLY;INTERVAL=5;BYDAY=2TU", "FREQ=YEARLY;BYMONTH=2,11",
            "FREQ=YEARLY;INTERVAL=3", "FREQ=DAILY;COUNT=40", "FREQ=WEEKLY;UNTIL=20290101",
        ]
    ),
    st.datetimes(datetime(2019, 1, 1), datetime(2022, 12, 31)),
    st.dates(date(2018, 1, 1), date(2031, 1, 1)),
)  # fmt: skip
def test_what_is_long_past_can_be_left_out(text: str, first: datetime, since: date) -> None:
    rule = read_rule(text)
    end = datetime(since.year + 4, 1, 1)

    def later(found: Iterator[datetime]) -> list[datetime]:
        return [one for one in takewhile(lambda one: one < end, found) if one.date() >= since]

    assert later(starts(rule, first, since)) == later(starts(rule, first))
