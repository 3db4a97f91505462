"""Many rows in one statement: lists of ids as one parameter, rows passed directly to the driver.

The library's work for each statement and each row costs more than the database's; a controller with a
thousand systems would pay it a thousand times for each job.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Dialect,
    Insert,
    Row,
    Table,
    Text,
    Update,
    bindparam,
    insert,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine

S = TypeVar("S")


class _Names(TypeDecorator[Sequence[str]]):
    """A list of texts as one parameter: an array of PostgreSQL, JSON for SQLite."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        own: TypeEngine[Any] = ARRAY(Text) if dialect.name == "postgresql" else Text()
        return dialect.type_descriptor(own)

    def process_bind_param(self, value: Sequence[str] | None, dialect: Dialect) -> Any:
        return value if dialect.name == "postgresql" else json.dumps(value)


class _OneOf(FunctionElement[bool]):
    inherit_cache = True
    name = "one_of"


@compiles(_OneOf, "sqlite")
def _for_sqlite(element: _OneOf, compiler: Any, **more: Any) -> str:
    column, names = (compiler.process(one, **more) for one in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({names}))"


@compiles(_OneOf, "postgresql")
def _for_postgresql(element: _OneOf, compiler: Any, **more: Any) -> str:
    column, names = (compiler.process(one, **more) for one in element.clauses)
    return f"{column} = ANY ({names})"


def one_of(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    """True for rows whose column is one of a list, which is given as the parameter ``name``: however long it
    is, the statement stays the same.
    """
    return _OneOf(column, bindparam(name, type_=_Names))


def insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows that all have the same columns; others get the default of their column."""
    if rows:
        given = _defaults(table)
        missing = {name: value for name, value in given.items() if name not in rows[0]}
        statement = _insert(table, (*rows[0], *missing))
        run_for_each(connection, statement, [{**row, **missing} for row in rows] if missing else rows)


def run_for_each(
    connection: Connection, statement: Insert | Update, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Run a statement that is made once, with the parameters of each row as the driver takes them."""
    if rows:
        text, order = _compile(connection.dialect, statement)
        given: Any = [tuple(map(row.__getitem__, order)) for row in rows] if order else [*map(dict, rows)]
        connection.exec_driver_sql(text, given)


@cache
def _insert(table: Table, names: tuple[str, ...]) -> Insert:
    return insert(table).inline().values({name: bindparam(name) for name in names})


@cache
def _defaults(table: Table) -> dict[str, Any]:
    columns = [one for one in table.columns if one.default is not None and one.default.is_scalar]
    return {one.name: one.default.arg for one in columns}  # type: ignore[union-attr]


@lru_cache(maxsize=256)
def _compile(dialect: Dialect, statement: Insert | Update) -> tuple[str, tuple[str, ...]]:
    """The text, and the order of its parameters; none if they are given by name."""
    compiled: Any = statement.compile(dialect=dialect)
    return str(compiled), tuple(compiled.positiontup or ())


def structs(shape: type[S], rows: Iterable[Row[Any]]) -> list[S]:
    """Rows as structs, whose fields are the columns in order."""
    names: tuple[str, ...] = shape.__struct_fields__  # type: ignore[attr-defined]
    return [shape(**dict(zip(names, row, strict=True))) for row in rows]
