"""Opens a database: SQLite in a file, or PostgreSQL by its address."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection as Connection
from sqlalchemy import Engine, create_engine, event, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, SQLAlchemyError

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


COLLISIONS = ("40P01", "40001")  # PostgreSQL: deadlock, and a transaction that cannot be put in order


class Collision(OperationError):
    """Two transactions conflicted, and this one was rolled back: it can be repeated."""


class Database:
    """Connections for reading and for writing. Used from threads; each block is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        self._writing = engine.execution_options(saltern_writes=True)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self._explain_errors(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that is committed at the end of the block, or rolled back if it raises."""
        with self._explain_errors(), self._writing.begin() as connection:
            yield connection

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except DatabaseError as problem:
            raise _refusal(problem, self.engine.url) from problem


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
        connection.isolation_level = None  # transactions begin below, not where the driver guesses
        for statement in _PRAGMAS:
            connection.execute(statement)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A transaction that reads first and writes later would fail if another wrote in between.
        writes = connection.get_execution_options().get("saltern_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


REFUSES = "check that it runs, that the address and the rights are right, and that its disk has space"
FULL = "free space on its disk: nothing is lost, and the controller continues by itself"
DISK_FULL = "53100"  # of PostgreSQL


def is_full(cause: str, state: str) -> bool:
    """True if a database has no space left, by what it says. Pure."""
    return state == DISK_FULL or "disk is full" in cause or "No space left" in cause


def _refusal(problem: SQLAlchemyError, url: URL) -> OperationError:
    cause = str(getattr(problem, "orig", problem)).strip().splitlines() or ["no reason given"]
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
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": f"saltern {name}"})
