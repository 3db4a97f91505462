"""What pages are made from cheaply says the same as the long way: folds that continue, groups, markup."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fleet.api.kit import Running
from tests.fleet.console.data import add_fleet, add_run, demo
from tests.fleet.console.kit import Browser, running_console

from saltern.chains.statuses import Leg
from saltern.fleet.calendars.ical import read_calendar
from saltern.fleet.calendars.windows import Calendar, may_begin, next_windows, prepare_calendar
from saltern.fleet.console.marks import cells, icon, status, strip
from saltern.fleet.console.marks import st as mark_with_word
from saltern.fleet.controller.chains import run_views
from saltern.fleet.controller.chains.moments import Folded, fold_moments, moments
from saltern.fleet.controller.chains.waits import why
from saltern.fleet.controller.windows import calendar_groups, calendars_for
from saltern.fleet.store import chain_shapes
from saltern.fleet.store.calendars import StoredCalendar
from saltern.fleet.store.events import NewEvent, store_events

RUN = "20261116024712000002"
HOSTILE = '"><script>alert(1)</script>\x1b[31m'
events = st.lists(
    st.fixed_dictionaries(
        {"status": st.sampled_from(["queued", "running", "failed", "expired", "succeeded"])},
        optional={"id": st.sampled_from(["a", "b", "c"]), "why": st.just("so")},
    ),
    max_size=12,
)


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_console(tmp_path_factory.mktemp("cheap")) as running:
        demo(running.database, time.time())
        yield running


@given(events, st.integers(0, 12))
def test_a_fold_that_continues_is_the_whole_fold(given_: list[dict[str, str]], cut: int) -> None:
    rows = [{"number": n + 1, "at": float(n), "data": data} for n, data in enumerate(given_)]
    waves = {"a": 0, "b": 0, "c": 1}
    whole = fold_moments(Folded(), rows, waves)
    assert fold_moments(fold_moments(Folded(), rows[:cut], waves), rows[cut:], waves) == whole


def test_moments_that_come_later_are_there(busy: Running) -> None:
    def now() -> list[str]:
        with busy.database.read() as connection:
            found = moments(connection, RUN, time.time() + 3600)
        assert found is not None
        return [str(one["what"]) for one in found]

    before = now()
    with busy.database.write() as connection:
        data = {"run": RUN, "status": "halted", "why": "too many"}
        store_events(connection, [NewEvent(tag=f"saltern/chain/{RUN}/status", data=data, at=time.time())])
    assert now() == [*before, "halted: too many"] == now()


def test_legs_that_were_read_make_the_groups_of_the_database(busy: Running) -> None:
    with busy.database.read() as connection:
        asked = run_views._groups(connection, RUN)
        made = run_views.group_legs(chain_shapes.leg_marks(connection, RUN))
    names = ("wave", "status", "shape", "count", "begun", "ended", "systems", "waits_for")

    def rows(found: list[dict[str, object]]) -> list[str]:
        return sorted(str([one[name] for name in names]) for one in found)

    assert rows(made) == rows(asked)
    assert all(bool(one["away"]) is False for one in made)


ICAL = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20200106T010000Z\nDURATION:PT6H\nEND:VEVENT\nEND:VCALENDAR\n"


@given(st.lists(st.sampled_from(["a", "b", "ab", ""]), max_size=4))
def test_systems_with_the_same_calendars_are_together(targets: list[str]) -> None:
    stored = [
        StoredCalendar(name=f"{n}", kind="allow", target=one, text=ICAL, author="t", changed=0.0)
        for n, one in enumerate(targets)
    ]
    systems = ["a1", "a2", "b1", "c1"]

    def match(target: str, among: object) -> list[str]:
        return [one for one in systems if one[0] in target]

    alone = calendars_for(stored, systems, match)
    together = calendar_groups(stored, systems, match)
    assert {one: [c.name for c in own] for own, members in together for one in members} == {
        one: [c.name for c in own] for one, own in alone.items()
    }


def test_facts_divide_systems_into_few_groups(busy: Running) -> None:
    inventory = busy.bench.fleet.inventory
    busy.run(inventory.refresh())
    groups = inventory.fact_groups(inventory.ids, ("os", "role", "none"))
    assert sum(len(own) for _, own in groups) == len(inventory.ids) == len(inventory)
    assert {"api", "cache", "web"} <= {str(facts["role"]) for facts, _ in groups}
    assert len(groups) == len({str(facts["role"]) for facts, _ in groups}), "each group once"


def test_the_numbers_of_the_fleet_need_no_facts(busy: Running) -> None:
    systems = busy.client().systems
    whole = systems.glance()
    light = systems._session.get("/v1/glance", facts="false")
    assert whole["facets"] and whole["connected"] == whole["total"] - 2
    assert light == whole | {"facets": []}


def test_marks_escape_what_they_are_given() -> None:
    made = (
        icon(HOSTILE, HOSTILE),
        mark_with_word("ok", HOSTILE),
        status(HOSTILE),
        strip([("ok", 1)], HOSTILE),
    )
    for one in (*made, cells([HOSTILE], [True])):
        assert "<script" not in one and "\x1b" not in one
        assert '">"' not in one


def test_a_cell_says_its_word_and_whether_a_line_is_before_it() -> None:
    row = cells(["succeeded", "", "failed"], [False, True, False])
    assert row.count("<td") == 3 and 'class="c gap cutline"' in row
    assert "<span>succeeded</span>" in row and "<span>has it not</span>" in row


def test_systems_that_need_a_person_come_first_on_every_page(busy: Running) -> None:
    get = busy.client().systems._session.get
    whole = get("/v1/states", limit=500)
    pages: list[Any] = []
    cursor: str | None = ""
    while cursor is not None:
        page = get("/v1/states", limit=5, cursor=cursor)
        assert page["first"] == len(pages) + 1
        pages += page["items"]
        cursor = page["next"]
    assert [one["id"] for one in pages] == [one["id"] for one in whole["items"]]
    assert whole["total"] == len(pages)
    some = get("/v1/states", limit=500, state="failed")
    assert {one["state"] for one in some["items"]} == {"failed"} and some["total"] == len(some["items"])
    fine = get("/v1/states", limit=500, state="connected")
    assert {one["state"] for one in fine["items"]} == {"connected"}


def test_who_asks_is_looked_up_once_for_a_page(busy: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Browser(busy)
    reader.sign_in("viewer")
    access = type(busy.server.app.desk.access)
    asked: list[str] = []
    real = access.authenticate

    def counted(self: object, *arguments: object) -> object:
        asked.append("")
        return real(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(access, "authenticate", counted)
    assert reader.get("/").status == 200
    assert len(asked) == 1


def test_a_role_that_is_taken_away_counts_for_the_next_page(busy: Running) -> None:
    client = busy.client()
    client.operators.add("eve", roles=["admin"], password="correct horse battery")
    eve = Browser(busy)
    eve.sign_in("eve")
    assert eve.get("/admin").status == 200
    client.operators.change("eve", roles=["viewer"])
    assert eve.get("/admin").status == 403


def test_a_system_that_joined_is_counted_by_the_next_page(busy: Running) -> None:
    reader = Browser(busy)
    reader.sign_in("viewer")
    before = reader.get("/systems?t=late*").text
    add_fleet(busy.database, ["late-1"])
    assert "means no system" in before
    assert "late-1" in reader.get("/systems?t=late*").text
    add_run(busy.database, "20261116024712000008", [("late-1", "cfnnn", Leg.FAILED, "no")], at=time.time())
    assert "failed" in reader.get("/systems?t=late*").text


WHOLE = "BEGIN:VCALENDAR\n{}END:VCALENDAR\n"
EVENT = "BEGIN:VEVENT\nDTSTART:2020010{}T010000Z\nDURATION:PT6H\nRRULE:FREQ={}\nEND:VEVENT\n"


@given(st.lists(st.sampled_from(["DAILY", "WEEKLY", "MONTHLY"]), min_size=1, max_size=3), st.integers(0, 30))
def test_a_calendar_that_keeps_what_it_said_says_the_same(rules: list[str], day: int) -> None:
    events = "".join(EVENT.format(n + 1, rule) for n, rule in enumerate(rules))
    plain = Calendar(name="n", kind="allow", events=read_calendar(WHOLE.format(events), "UTC"))
    keeps, now = prepare_calendar(plain), 1_790_000_000.0 + day * 86_400
    for _ in range(2):
        assert may_begin([keeps], now, needs=60) == may_begin([plain], now, needs=60)
        assert next_windows([keeps], now, 3) == next_windows([plain], now, 3)


def test_a_run_waits_for_a_window_only_if_all_that_are_at_work_do() -> None:
    def leg(shut: str, sent: str = "yes") -> dict[str, Any]:
        state = f'{{"shut": "{shut}"}}'.encode()
        return {"sent": sent, "status": "delivered", "state": state, "waits_for": "", "away": False}

    row = {"halted": "", "status": "running", "state": b"{}", "strategy": b"{}"}
    assert why(row, [], [], [leg("night"), leg("night", "")]) == "2 systems wait for a window: night"
    assert why(row, [], [], [leg(""), leg("night")]) == ""
    assert why(row, [], [], [leg("", ""), leg("night", "")]) == "1 system waits for a window: night"
    assert why(row, [], [], [leg("")]) == ""


@pytest.mark.parametrize(
    ("own", "statuses", "cells"),
    [
        (["a", "b", "c"], ["changed", "failed", "not run"], ["changed", "failed", "not run"]),
        (["a", "c"], ["changed", "failed"], ["changed", "", "failed"]),
        (["a", "b", "c"], ["changed"], ["changed", "", ""]),
        (["a", "b", "c"], ["changed", "x", "y", "z"], ["changed", "x", "y"]),
    ],
)
def test_a_row_has_a_cell_for_each_action(own: list[str], statuses: list[str], cells: list[str]) -> None:
    assert run_views._cells(statuses, own, ["a", "b", "c"]) == cells
