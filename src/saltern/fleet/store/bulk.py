"""Many rows in one statement, and statements that run with each job: passed directly to the driver.

The library's work for each statement and each row costs more than the database's; a controller with a
thousand systems would pay it a thousand times for each job.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar

from msgspec import Struct
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Dialect,
    Insert,
    LargeBinary,
    Select,
    Table,
    Text,
    Update,
    bindparam,
    insert,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine

from saltern.fleet.store.database import driver_of

S = TypeVar("S")
Convert = Callable[[Any], Any]


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
    if not rows:
        return
    made = _prepare(connection.dialect, statement)
    given = [{**made.constants, **row} for row in rows] if made.constants else rows
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(made.text, [*map(dict, given)])
        return
    values = [tuple(map(row.__getitem__, made.order)) for row in given]
    try:
        driver_of(connection).executemany(made.text, values)
    except sqlite3.Error as problem:
        raise _usual_error(connection, made, problem) from problem


def fetch(connection: Connection, statement: Select[Any], **given: Any) -> Sequence[Sequence[Any]]:
    """The rows of a query that is made once and runs often."""
    if connection.dialect.name != "sqlite":
        return connection.execute(statement, given).all()
    made = _prepare(connection.dialect, statement)
    values = {**made.constants, **given}
    for name, convert in made.converted.items():
        values[name] = convert(values[name])
    try:
        rows = driver_of(connection).execute(made.text, [values[name] for name in made.order]).fetchall()
    except sqlite3.Error as problem:
        raise _usual_error(connection, made, problem) from problem
    if made.results:
        return [tuple(_convert_row(row, made.results)) for row in rows]
    return rows


def fetch_value(connection: Connection, statement: Select[Any], **given: Any) -> Any:
    """The first column of the first row; None if there is no row."""
    rows = fetch(connection, statement, **given)
    return rows[0][0] if rows else None


class _Made(Struct, frozen=True):
    """A statement as the driver takes it: the order of its parameters if they have no names, those with a
    value of their own, and what is converted, of the parameters and of the columns.
    """

    text: str
    order: tuple[str, ...]
    constants: dict[str, Any]
    converted: dict[str, Convert]
    results: dict[int, Convert]


@lru_cache(maxsize=256)
def _prepare(dialect: Dialect, statement: Select[Any] | Insert | Update) -> _Made:
    compiled: Any = statement.compile(dialect=dialect)
    required = {name for name, one in compiled.binds.items() if one.required}
    expanded = compiled.construct_expanded_state(dict.fromkeys(required))
    given = {name: compiled.binds[name].type.dialect_impl(dialect) for name in required}
    types = {name: impl.bind_processor(dialect) for name, impl in given.items()}
    results = {
        number: column.type.dialect_impl(dialect).result_processor(dialect, None)
        for number, column in enumerate(statement.selected_columns if isinstance(statement, Select) else ())
        if not isinstance(column.type, LargeBinary)  # the driver returns bytes
    }
    return _Made(
        text=expanded.statement,
        order=tuple(expanded.positiontup or ()),
        constants={name: value for name, value in expanded.parameters.items() if name not in required},
        converted={name: convert for name, convert in types.items() if convert},
        results={number: convert for number, convert in results.items() if convert},
    )


def _convert_row(row: Sequence[Any], conversions: Mapping[int, Convert]) -> Iterator[Any]:
    for number, value in enumerate(row):
        convert = conversions.get(number)
        yield convert(value) if convert else value


def _usual_error(connection: Connection, made: _Made, problem: sqlite3.Error) -> Exception:
    """An error of the driver as the library raises it."""
    return DBAPIError.instance(made.text, None, problem, sqlite3.Error, dialect=connection.dialect)


@cache
def _insert(table: Table, names: tuple[str, ...]) -> Insert:
    return insert(table).inline().values({name: bindparam(name) for name in names})


@cache
def _defaults(table: Table) -> dict[str, Any]:
    columns = [one for one in table.columns if one.default is not None and one.default.is_scalar]
    return {one.name: one.default.arg for one in columns}  # type: ignore[union-attr]


def structs(shape: type[S], rows: Iterable[Sequence[Any]]) -> list[S]:
    """Rows as structs, whose fields are the columns in order."""
    names: tuple[str, ...] = shape.__struct_fields__  # type: ignore[attr-defined]
    return [shape(**dict(zip(names, row, strict=True))) for row in rows]
