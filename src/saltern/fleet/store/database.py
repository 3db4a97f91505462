"""Opens a database: SQLite in a file, or PostgreSQL by its address."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from sqlalchemy import Connection as Connection
from sqlalchemy import Engine, create_engine, event, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as NoConnection

from saltern.language.diagnostics import Diagnostic, OperationError

Transaction = Connection  # for signatures outside of this package
WAIT = 30.0  # seconds for another writer
POOL = 8  # connections to PostgreSQL of one controller: its threads that read, and those that write
MOST_OPEN = 60  # connections to SQLite beyond the usual ones; there are fewer threads
DRIVERS = {
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "sqlite": "sqlite",
}
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",  # readers and the writer do not wait for each other
    "PRAGMA synchronous=FULL",  # committed data survives a power failure
    "PRAGMA foreign_keys=ON",
    f"PRAGMA busy_timeout={int(WAIT * 1000)}",
)


ERRORS = (DBAPIError, NoConnection, sqlite3.Error)
COLLISIONS = ("40P01", "40001")  # PostgreSQL: deadlock, and a transaction that cannot be put in order


class Collision(OperationError):
    """Two transactions conflicted, and this one was rolled back: it can be repeated."""


class Database:
    """Connections for reading and for writing. Used from threads; each block is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        self._writing = engine.execution_options(saltern_writes=True)
        self._own = threading.local()
        self._kept: list[Connection] = []  # of all threads

    @contextmanager
    def read(self) -> Iterator[Connection]:
        try:
            with self.engine.connect() as connection:
                self._begin(connection, "BEGIN")
                yield connection
        except ERRORS as problem:
            raise self.explain(problem) from problem

    @contextmanager
    def look(self) -> Iterator[Connection]:
        """A connection for queries that each stand alone. SQLite: without a transaction, and kept by this
        thread.
        """
        if not self.is_sqlite:
            with self.read() as connection:
                yield connection
            return
        try:
            kept: Connection | None = getattr(self._own, "connection", None)
            if kept is None or kept.closed:
                kept = self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
                self._own.connection = kept
                self._kept.append(kept)
            yield kept
        except ERRORS as problem:
            raise self.explain(problem) from problem

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that is committed at the end of the block, or rolled back if it raises."""
        try:
            with self._writing.begin() as connection:
                # A transaction that reads first and writes later would fail if another wrote in between.
                self._begin(connection, "BEGIN IMMEDIATE")
                yield connection
        except ERRORS as problem:
            raise self.explain(problem) from problem

    def _begin(self, connection: Connection, statement: str) -> None:
        """Begin a transaction of SQLite, whose driver would only begin one with the first write.

        A listener for the beginning of transactions could do it, but would cost something in each statement.
        """
        if self.is_sqlite:
            driver_of(connection).execute(statement)

    def has_given_up(self, connection: Connection) -> bool:
        """True if SQLite has rolled back a transaction by itself, as it may if its disk is full: what was
        written in it is lost, and what follows would be written alone.
        """
        return self.is_sqlite and not driver_of(connection).in_transaction

    def close(self) -> None:
        for connection in self._kept:
            connection.close()
        self.engine.dispose()

    def explain(self, problem: Exception) -> Exception:
        """An error of the database as one for people; any other as it is."""
        return _refusal(problem, self.engine.url) if isinstance(problem, ERRORS) else problem


def driver_of(connection: Connection) -> sqlite3.Connection:
    """The connection of SQLite's driver below a connection."""
    return cast(sqlite3.Connection, connection.connection.driver_connection)


def open_database(address: str) -> Database:
    """The database at an address such as ``sqlite:////var/lib/saltern/fleet.db``, without any tables yet."""
    url = _url(address)
    if url.get_backend_name() == "sqlite":
        return Database(_sqlite(url))
    kept = POOL // 2  # more are closed again when they are idle
    return Database(create_engine(url, pool_pre_ping=True, pool_size=kept, max_overflow=POOL - kept))


def _url(address: str) -> URL:
    try:
        url = make_url(address)
        return url.set(drivername=DRIVERS[url.drivername])
    except (ArgumentError, KeyError, NoSuchModuleError):
        raise OperationError(
            Diagnostic(
                code="database-address",
                what=f"the address of the database {_without_password(address)!r} is not understood",
                fix="use sqlite:////path/to/fleet.db or postgresql://user@host/name",
            )
        ) from None


def _without_password(address: str) -> str:
    scheme, mark, rest = address.partition("://")
    return f"{scheme}{mark}…@{rest.rpartition('@')[2]}" if "@" in rest else address


def _sqlite(url: URL) -> Engine:
    path = url.database
    pool: dict[str, Any] = {}
    if path and path != ":memory:":
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)  # never readable by others
        os.close(descriptor)
        pool["max_overflow"] = MOST_OPEN  # who looks something up must not wait for a thread that reads
    engine = create_engine(url, connect_args={"timeout": WAIT, "check_same_thread": False}, **pool)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # ``Database`` begins transactions, not the driver where it guesses
        for statement in _PRAGMAS:
            connection.execute(statement)

    return engine


REFUSES = "check that it runs, that the address and the rights are right, and that its disk has space"
FULL = "free space on its disk: nothing is lost, and the controller continues by itself"
DISK_FULL = "53100"  # of PostgreSQL


def is_full(cause: str, state: str) -> bool:
    """True if a database has no space left, by what it says. Pure."""
    return state == DISK_FULL or "disk is full" in cause or "No space left" in cause


def _refusal(problem: Exception, url: URL) -> OperationError:
    cause = str(getattr(problem, "orig", problem)).strip().splitlines() or ["no reason given"]
    if isinstance(problem, NoConnection):
        cause = ["all connections to it wait for an answer"]
    state = getattr(getattr(problem, "orig", None), "sqlstate", "")
    return (Collision if state in COLLISIONS else OperationError)(
        Diagnostic(
            code="database-error",
            what=f"the database {url.render_as_string(hide_password=True)} refuses: {cause[0]}",
            fix=FULL if is_full(cause[0], state) else REFUSES,
        )
    )


def serialize(connection: Connection, name: str) -> None:
    """Let only one transaction at a time past this point, until it ends. SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(_LOCK, {"name": f"saltern {name}"})


def try_serialize(connection: Connection, name: str) -> bool:
    """The same without waiting: False if another transaction is past that point."""
    if connection.dialect.name != "postgresql":
        return True
    return bool(connection.scalar(_TRY_LOCK, {"name": f"saltern {name}"}))


_LOCK = text("SELECT pg_advisory_xact_lock(hashtext(:name))")
_TRY_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtext(:name))")
