"""A full disk below SQLite, which undoes a transaction in the middle of it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.fleet.controller.test_calls import stored_together

from saltern.fleet.store.database import Connection
from saltern.fleet.store.groups import set_group
from saltern.language.diagnostics import OperationError


def limit_disk(connection: Connection) -> None:
    """From now on there is room for few pages."""
    used = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    connection.exec_driver_sql(f"PRAGMA max_page_count = {used + 5}")


def test_a_transaction_that_is_undone_fails_all_its_changes(tmp_path: Path) -> None:
    sizes = {"g1": 1, "g2": 1_000_000, "g3": 1}
    works = [partial(set_group, name=name, expression="x" * size) for name, size in sizes.items()]
    done, kept = stored_together(tmp_path, limit_disk, *works)
    assert kept == [name for name, problem in zip(sizes, done[1:], strict=True) if problem is None]
    assert isinstance(done[2], OperationError) and "disk is full" in str(done[2])
