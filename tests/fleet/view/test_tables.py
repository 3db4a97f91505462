"""Lists of systems, keys, jobs and runs for people."""

from __future__ import annotations

import io
import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from saltern.fleet.view.formats import write
from saltern.fleet.view.outcomes import Answered, outcome
from saltern.fleet.view.status import overview
from saltern.fleet.view.tables import align, job_status, list_lines, presence
from saltern.fleet.view.words import moment, names, span
from saltern.report.outputs import OutputOptions
from saltern.report.text import columns, safe_line

NOW = 1_704_110_400.0


def system(id_: str, **values: Any) -> dict[str, Any]:
    usual = {
        "state": "accepted",
        "online": True,
        "seen_at": NOW,
        "back_by": None,
        "version": "0.1",
        "site": "",
    }
    return {"id": id_, **usual, **values}


def job(jid: str, **values: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {
        "created": NOW - 5,
        "ended": NOW,
        "cancelled_at": None,
        "expected": 3,
        "open": 0,
        "counts": {},
    }
    return {"jid": jid, "user": "root", "function": "state.apply", "target": "*", **usual, **values}


def clock(at: float) -> str:
    return time.strftime("%H:%M", time.localtime(at))


def test_the_overview_says_who_is_there_who_is_away_what_runs_and_what_failed() -> None:
    systems = [
        system("web1"),
        system("web2", online=False, seen_at=NOW - 60),
        system("web3", online=False, seen_at=None),
        system("new", state="pending", online=False),
    ]
    jobs = [job("J2", ended=None, open=1), job("J1", counts={"failed": 2, "returned": 1}), job("J0")]
    lines = list(overview(systems, jobs, NOW))
    assert lines[:4] == [
        "3 systems: 1 here, 2 away",
        f"  away since {clock(NOW - 60)}: web2",
        "  never seen: web3",
        "1 key to decide on: new (`saltern fleet keys`)",
    ]
    assert "what runs:" in lines and "what failed:" in lines
    assert [line for line in lines if "J2" in line][0].count("running 2/3") == 1  # noqa: RUF015
    assert not [line for line in lines if "J0" in line]


def test_a_fleet_without_systems_says_how_to_get_some() -> None:
    assert "saltern agent join TOKEN" in list(overview([], [], NOW))[-1]


def test_presence_has_a_word_for_each_case() -> None:
    later = {"online": False, "back_by": NOW + 60}
    assert presence(system("a"), NOW) == "here"
    assert presence(system("a", **later), NOW) == f"down, back by {clock(NOW + 60)}"
    assert presence(system("a", online=False, back_by=NOW - 60), NOW) == f"away since {clock(NOW)}"
    assert presence(system("a", state="revoked"), NOW) == "-"


def test_a_job_that_was_cancelled_is_not_called_ended() -> None:
    assert job_status(job("J", cancelled_at=NOW)) == "cancelled"
    assert job_status(job("J", counts={"expired": 1})) == "ended, 1 failed"


def test_an_empty_list_is_a_sentence() -> None:
    assert list(list_lines("jobs", [], NOW)) == ["no jobs yet"]


def test_the_runs_of_all_systems_are_one_table() -> None:
    rows = [{"jid": "20260101", "status": "done", "done": 3, "changed": 1, "failed": 0, "asked": "web"}]
    some = Answered(system="a", status="returned", body={"local": rows}, has_body=True)
    none = Answered(system="b", status="returned", body={"local": []}, has_body=True)
    out = io.StringIO()
    write(
        "grouped",
        "saltern.runs",
        [outcome("saltern.runs", one) for one in (some, none)],
        out,
        OutputOptions(),
    )
    assert out.getvalue().splitlines() == [
        "system  run       status  states  changed  failed  asked for",
        "a       20260101  done    3       1        0       web",
        "no runs yet: b",
    ]


@given(st.lists(st.lists(st.text(max_size=90), min_size=3, max_size=3), max_size=5), st.integers(10, 100))
def test_a_table_is_safe_and_fits(rows: list[list[str]], width: int) -> None:
    lines = list(align(("a", "b", "c"), rows, width))
    assert len(lines) == len(rows) + 1
    assert all(line == safe_line(line) and columns(line) <= width for line in lines)


@given(st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=40), st.integers(0, 60))
def test_names_are_counted_right(ids: list[str], room: int) -> None:
    text = names(ids, room)
    shown = text.partition(" and ")[0].split(", ")
    more = int(text.rpartition(" and ")[2].split()[0]) if " and " in text else 0
    assert len(shown) + more == len(ids)
    assert shown == ids[: len(shown)]


@given(st.floats(allow_nan=False), st.floats(0, 1e12))
def test_any_time_can_be_said(at: float, now: float) -> None:
    assert moment(at, now) and span(min(at, 1e15))
