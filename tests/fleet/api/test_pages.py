"""All pages together are everything, once, while rows are added."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fleet.api.asgi import call
from tests.fleet.api.kit import Running, add_audit, add_events, add_job, add_system, running_api

from saltern.fleet.store.events import newest_event

ids = st.text("abzABZ09.-_ äß😀", min_size=1, max_size=6).filter(lambda one: one == one.strip())


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_api(tmp_path_factory.mktemp("pages")) as api:
        yield api


def pages(
    api: Running, path: str, limit: int, between: Callable[[], object], begin: str = "", **query: str
) -> list[Any]:
    """All rows of a list; something happens between the pages."""
    found: list[Any] = []
    cursor: str | None = begin
    name = "after" if path == "/v1/events" else "cursor"
    while cursor is not None:
        text = urlencode({"limit": limit, **query, **({name: cursor} if cursor else {})})
        answer = api.run(call(api.server.app, "GET", path, query=text.encode()))
        assert answer.status == 200, answer.body
        page = msgspec.json.decode(answer.body)
        assert len(page["items"]) <= limit
        found += page["items"]
        cursor = page["next"]
        between()
    return found


def empty(api: Running, *tables: str) -> None:
    with api.database.write() as connection:
        for table in tables:
            connection.exec_driver_sql(f"DELETE FROM {table}")


@settings(max_examples=30, deadline=None)
@given(
    first=st.sets(ids, max_size=12),
    later=st.lists(ids, max_size=8, unique=True),
    limit=st.integers(1, 5),
    target=st.sampled_from(["", "*"]),
)
def test_systems(shared: Running, first: set[str], later: list[str], limit: int, target: str) -> None:
    empty(shared, "systems")
    for one in first:
        add_system(shared.database, one)
    more = iter([one for one in later if one not in first])

    def between() -> None:
        if one := next(more, ""):
            add_system(shared.database, one)

    found = [one["id"] for one in pages(shared, "/v1/systems", limit, between, target=target)]
    assert len(found) == len(set(found)) and first <= set(found) <= first | set(later)


@settings(max_examples=30, deadline=None)
@given(times=st.lists(st.integers(1, 4), max_size=12), limit=st.integers(1, 5), later=st.integers(0, 6))
def test_jobs_with_equal_times(shared: Running, times: list[int], limit: int, later: int) -> None:
    """The newest first, also if many were made in the same moment."""
    empty(shared, "targets", "jobs")
    for number, at in enumerate(times):
        add_job(shared.database, f"first{number}", (), now=float(at))
    more = iter(range(later))

    def between() -> None:
        for number in more:
            add_job(shared.database, f"later{number}", (), now=4.0 + number)
            return

    rows = pages(shared, "/v1/jobs", limit, between)
    found = [row["jid"] for row in rows]
    assert len(found) == len(set(found)) and {f"first{number}" for number in range(len(times))} <= set(found)
    assert [row["created"] for row in rows] == sorted((row["created"] for row in rows), reverse=True)


@settings(max_examples=20, deadline=None)
@given(systems=st.sets(ids, max_size=12), limit=st.integers(1, 5))
def test_systems_of_a_job(shared: Running, systems: set[str], limit: int) -> None:
    empty(shared, "targets", "jobs")
    add_job(shared.database, "1", tuple(systems))
    found = [one["system"] for one in pages(shared, "/v1/jobs/1/targets", limit, lambda: None)]
    assert sorted(found) == sorted(systems) and len(found) == len(systems)


@settings(max_examples=20, deadline=None)
@given(first=st.integers(0, 12), later=st.integers(0, 4), limit=st.integers(1, 5))
def test_audit_and_events_never_lose_a_row(shared: Running, first: int, later: int, limit: int) -> None:
    with shared.database.read() as connection:
        after = newest_event(connection)
    empty(shared, "audit")
    add_audit(shared.database, first)
    add_events(shared.database, *(f"e{number}" for number in range(first)))
    left = [later]

    def between() -> None:
        if left[0]:
            left[0] -= 1
            add_audit(shared.database, 1)
            add_events(shared.database, "late")

    rows = [one["number"] for one in pages(shared, "/v1/audit", limit, between)]
    assert rows == list(range(1, len(rows) + 1))
    events = [one["number"] for one in pages(shared, "/v1/events", limit, between, begin=str(after))]
    assert events == list(range(after + 1, after + 1 + len(events))) and len(events) >= first
