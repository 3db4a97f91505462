"""Runs work on the database in threads, off the event loop.

SQLite has one writer, and each commit waits for the disk: changes that wait for the same thread are written
in one transaction, each in its own savepoint, so that one that fails does not affect the others.

Bulk changes, such as events, wait in a second queue: they are written alone, and after everything in the
first queue, so that a job waits for one batch at most, however many there are.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Concatenate, ParamSpec, TypeVar

from saltern.fleet.store.audit import with_reason
from saltern.fleet.store.database import Collision, Connection, Database

T = TypeVar("T")
P = ParamSpec("P")
READERS = 4
WRITERS = 4  # of PostgreSQL
TOGETHER = 100  # changes in one transaction
TRIES = 5  # attempts of a transaction that conflicts with another
TURNS = 20  # transactions of the first queue after which the second gets its turn

Work = Callable[[Connection], Any]
Change = tuple[Work, Future[Any]]


class Lines:
    """Two queues of changes. The second gets its turn when the first is empty, and after ``TURNS``
    transactions in any case.
    """

    def __init__(self, together: int) -> None:
        self._together = together
        self._first: deque[Change] = deque()
        self._second: deque[Change] = deque()
        self._turns = 0
        self._lock = threading.Lock()

    def add(self, change: Change, *, patient: bool) -> None:
        (self._second if patient else self._first).append(change)

    def take(self) -> list[Change]:
        """The changes of the next transaction; empty only if none wait. Several threads call it."""
        with self._lock:
            if self._first and (self._turns < TURNS or not self._second):
                self._turns += bool(self._second)
                return [self._first.popleft() for _ in range(min(self._together, len(self._first)))]
            self._turns = 0
            return [self._second.popleft()] if self._second else []


class Calls:
    """Each call is one transaction, which is completed even if its caller is cancelled."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="saltern-read")
        self._writers = ThreadPoolExecutor(
            1 if database.is_sqlite else WRITERS, thread_name_prefix="saltern-write"
        )
        self._lines = Lines(TOGETHER if database.is_sqlite else 1)

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        def work() -> T:
            with self.database.read() as connection:
                return query(connection, *args, **options)

        return await asyncio.get_running_loop().run_in_executor(self._readers, work)

    async def look(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """A query for a few rows, whose statements each stand alone. SQLite answers it at once: another
        thread would cost more than that.
        """
        if not self.database.is_sqlite:
            return await self.read(query, *args, **options)
        with self.database.look() as connection:
            return query(connection, *args, **options)

    async def write(
        self, change: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        return await self._write(lambda connection: change(connection, *args, **options), patient=False)

    async def write_later(
        self, change: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """The same for bulk changes: everything else that waits is written first."""
        return await self._write(lambda connection: change(connection, *args, **options), patient=True)

    async def _write(self, work: Callable[[Connection], T], *, patient: bool) -> T:
        result: Future[T] = Future()
        self._lines.add((with_reason(work), result), patient=patient)
        self._writers.submit(self._write_waiting)
        return await asyncio.shield(asyncio.wrap_future(result))

    def _write_waiting(self) -> None:
        """In the writing thread: write all that waits, or as much as fits into one transaction."""
        if not (batch := self._lines.take()):
            return  # an earlier call has done it
        try:
            done = self._write_together(batch)
        except BaseException as problem:
            for _, result in batch:
                result.set_exception(problem)
            return
        for (_, result), (value, failure) in zip(batch, done, strict=True):
            if failure is None:
                result.set_result(value)
            else:
                result.set_exception(failure)

    def _write_together(self, batch: list[Change]) -> list[tuple[Any, BaseException | None]]:
        """Write one transaction; repeat it after a conflict with another."""
        tries = TRIES
        while True:
            tries -= 1
            try:
                with self.database.write() as connection:
                    if len(batch) == 1:  # it may fail as a whole
                        return [(work(connection), None) for work, _ in batch]
                    return [self._attempt(connection, work) for work, _ in batch]
            except Collision:
                if not tries:
                    raise

    def _attempt(self, connection: Connection, work: Work) -> tuple[Any, BaseException | None]:
        """The result of one change of several, or its error. Raises an error that has undone the others."""
        savepoint = connection.begin_nested()
        try:
            value = work(connection)
            savepoint.commit()
        except Exception as problem:
            if self.database.has_given_up(connection):
                raise
            savepoint.rollback()
            return None, self.database.explain(problem)
        return value, None

    def close(self) -> None:
        """Return when all work that was started is done."""
        self._readers.shutdown()
        self._writers.shutdown()
