"""What a controller asks its database again and again costs the same, however many jobs are kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.controller.kit import new_database
from tests.fleet.store.statements import trace

from saltern.fleet.store import batches, chain_outbox, deliveries, jobs, returns, ssh_systems
from saltern.fleet.store.database import Connection, Database

# Tables that grow with each job, and with each run of a chain.
KEPT = ("jobs", "targets", "returns", "records", "events", "chain_runs", "chain_legs", "chain_outbox")
PERIODIC: dict[str, Callable[[Connection], Any]] = {
    "overdue": lambda connection: jobs.overdue(connection, 9.0),
    "unsent": lambda connection: deliveries.unsent(connection, 5.0, 9.0),
    "any unsent": lambda connection: deliveries.has_unsent(connection, 5.0, 9.0),
    "batches": lambda connection: batches.batched_jobs(connection, 9.0),
    "work over SSH": ssh_systems.open_work,
    "any work over SSH": ssh_systems.has_open_work,
    "work of chains": chain_outbox.has_work,
    "late orders": chain_outbox.late_orders,
    "late work": lambda connection: ssh_systems.late_work(connection, "web1", 5.0),
    "begun jobs": lambda connection: returns.begun_jobs(connection, "web1"),
}


def plans(database: Database, query: Callable[[Connection], Any]) -> list[str]:
    """How SQLite answers each statement of a query."""
    asked: list[str] = []
    with database.read() as connection:
        trace(connection, asked.append)
        query(connection)
        trace(connection, None)
        plans = [connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {one}") for one in asked]
        return [str(row[3]) for plan in plans for row in plan]


@pytest.mark.parametrize("name", PERIODIC)
def test_no_table_of_jobs_is_read_as_a_whole(tmp_path: Path, name: str) -> None:
    database = new_database(tmp_path)
    steps = plans(database, PERIODIC[name])
    database.close()
    assert steps and not [step for step in steps if step in {f"SCAN {table}" for table in KEPT}]
