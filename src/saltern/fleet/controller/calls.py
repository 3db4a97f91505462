"""Work on the database, off the event loop: one thread writes to SQLite, which has one writer anyway."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar

from saltern.fleet.store.database import Connection, Database

T = TypeVar("T")
P = ParamSpec("P")
READERS = 4
WRITERS = 4  # of PostgreSQL


class Calls:
    """Each call is one transaction, run to its end also if who waits for it is cancelled."""

    def __init__(self, database: Database) -> None:
        self.database = database
        writers = 1 if database.is_sqlite else WRITERS
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="saltern-read")
        self._writers = ThreadPoolExecutor(writers, thread_name_prefix="saltern-write")

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        def work() -> T:
            with self.database.read() as connection:
                return query(connection, *args, **options)

        return await asyncio.get_running_loop().run_in_executor(self._readers, work)

    async def write(
        self, change: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        def work() -> T:
            with self.database.write() as connection:
                return change(connection, *args, **options)

        return await asyncio.get_running_loop().run_in_executor(self._writers, work)

    def close(self) -> None:
        """Return when all that was begun is done."""
        self._readers.shutdown()
        self._writers.shutdown()
