"""Copies a whole database into another one of any kind: table by table, in one transaction."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import BigInteger, Connection, Integer, Table, func, insert, select, text

from saltern.fleet.store.database import Database
from saltern.fleet.store.tables import METADATA
from saltern.language.diagnostics import Diagnostic, OperationError

ROWS = 500  # that are read and written at once


def copy_database(source: Database, target: Database) -> dict[str, int]:
    """Copy all rows into an empty database that has the same schema; how many each table has.

    The target has all of them or, if anything fails, none.
    """
    with source.read() as old, target.write() as new:
        _check_empty(new)
        for table in METADATA.sorted_tables:  # what others refer to comes first
            for rows in _pages(old, table):
                new.execute(insert(table), rows)
            _continue_numbers(new, table)
        counts = {table.name: _count(old, table) for table in METADATA.sorted_tables}
        wrong = [table.name for table in METADATA.sorted_tables if _count(new, table) != counts[table.name]]
        if wrong:
            raise _refusal(
                f"not all rows of {', '.join(wrong)} arrived", "stop all controllers, and try again"
            )
    return counts


def _check_empty(connection: Connection) -> None:
    used = [table.name for table in METADATA.sorted_tables if _count(connection, table)]
    if used:
        what = f"the database that is to be filled is not empty: it has rows in {', '.join(used)}"
        raise _refusal(what, "name an empty database, or drop and create that one")


def _pages(connection: Connection, table: Table) -> Iterator[list[dict[str, object]]]:
    result = connection.execution_options(yield_per=ROWS).execute(select(table))
    for page in result.mappings().partitions(ROWS):
        yield [dict(row) for row in page]


def _continue_numbers(connection: Connection, table: Table) -> None:
    """Advance PostgreSQL's sequences, which rows inserted with explicit numbers do not advance."""
    column = table.autoincrement_column
    if connection.dialect.name != "postgresql" or column is None:
        return
    if not isinstance(column.type, Integer | BigInteger):
        return
    name = connection.scalar(
        text("SELECT pg_get_serial_sequence(:table, :column)"), {"table": table.name, "column": column.name}
    )
    last = connection.scalar(select(func.max(column)))
    if name and last:
        connection.execute(text("SELECT setval(:name, :last)"), {"name": name, "last": last})


def _count(connection: Connection, table: Table) -> int:
    return int(connection.scalar(select(func.count()).select_from(table)) or 0)


def _refusal(what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="database-copy", what=what, fix=fix))
