"""A page of returns: each body whole, in the order of systems, and few queries for many of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fleet.api.kit import add_job, add_return, make_database
from tests.fleet.store.statements import trace

from saltern.fleet.api.returns import AT_ONCE, GROUP_BYTES, returns_page, split_by_size
from saltern.fleet.protocol.messages import Return
from saltern.fleet.store.jobs import store_returns


@given(st.lists(st.integers(0, 2 * GROUP_BYTES)))
def test_groups_keep_the_order_and_no_group_is_large(sizes: list[int]) -> None:
    groups = list(split_by_size(sizes, lambda size: size))
    assert [size for group in groups for size in group] == sizes
    for group in groups:
        assert len(group) == 1 or (sum(group) <= GROUP_BYTES and len(group) <= AT_ONCE)


@given(st.integers(0, 3 * AT_ONCE))
def test_small_returns_make_few_groups(number: int) -> None:
    assert len(list(split_by_size([1] * number, lambda size: size))) == -(-number // AT_ONCE)


def test_a_page_has_whole_bodies_by_system_and_few_queries(tmp_path: Path) -> None:
    database = make_database(tmp_path)
    ids = tuple(f"web{number:03}" for number in range(60))
    add_job(database, "1", (*ids, "away"))
    for id_ in ids:
        add_return(database, "1", id_, f'"{id_}"'.encode())
    queries: list[str] = []
    with database.read() as connection:
        trace(connection, queries.append)
        found, more = returns_page(connection, "1", "", 50)
        rest, end = returns_page(connection, "1", found[49].system, 50)
        trace(connection, None)
    assert [(one.system, one.body) for one in (*found[:50], *rest)] == [(id_, id_) for id_ in ids]
    assert (len(found), more, end) == (51, 1, 0)
    assert 0 < len(queries) < 10
    database.close()


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_returns_of_which_parts_are_missing_end_no_page_early(tmp_path: Path, limit: int) -> None:
    database = make_database(tmp_path)
    ids = [f"web{number:02}" for number in range(12)]
    add_job(database, "1", (*ids,))
    whole = [id_ for id_ in ids if id_ not in ("web00", "web03", "web04", "web05", "web10")]
    with database.write() as connection:
        for id_ in ids:
            parts = 1 if id_ in whole else 2
            one = Return(jid="1", status="returned", part=0, parts=parts, body=b"1", size=1)
            store_returns(connection, [(id_, one)], 2.0)
    found, after, more = [], "", 1
    with database.read() as connection:
        while more:
            page, more = returns_page(connection, "1", after, limit)
            found += [one.system for one in page[: len(page) - more]]
            after = found[-1]
    assert found == whole
    database.close()


def test_a_return_of_which_a_part_is_missing_is_not_on_the_page(tmp_path: Path) -> None:
    database = make_database(tmp_path)
    add_job(database, "1", ("a", "b"))
    with database.write() as connection:
        for part, body in ((1, b'x"'), (0, b'"x')):
            one = Return(jid="1", status="returned", part=part, parts=2, body=body, size=4)
            store_returns(connection, [("a", one)] if part else [("a", one), ("b", one)], 2.0)
    with database.read() as connection:
        found, _ = returns_page(connection, "1", "", 50)
    assert [(one.system, one.body) for one in found] == [("a", "xx")]
    database.close()
