"""The SQLite file of the spool: each transaction is on disk when it returns."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from saltern.system.private import make_private

Statement = tuple[str, tuple[object, ...]]


class SpoolFailed(Exception):
    """The spool cannot be written or read; the text says why."""


class SpoolFile:
    """An open database with the tables of ``schema``; ``":memory:"`` for one without a file."""

    def __init__(self, path: str, schema: str) -> None:
        self.path = path
        if path != ":memory:":
            make_private(os.path.dirname(path))
        with self._explain_errors():
            self._database = sqlite3.connect(path, isolation_level=None)
            if path != ":memory:":
                os.chmod(path, 0o600)
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=FULL")
            self._database.execute("PRAGMA cache_size=-256")  # KiB: an agent is small
            self._database.executescript(schema)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as problem:
            fix = "; free space there" if "full" in str(problem) else ""
            raise SpoolFailed(f"the spool {self.path} cannot be used: {problem}{fix}") from None

    def write(self, *statements: Statement) -> int:
        return self.write_all(statements)

    def write_all(self, statements: Iterable[Statement]) -> int:
        """Execute all statements in one transaction; return the number of rows that the first one changed."""
        with self._explain_errors():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                changed = [self._database.execute(*one).rowcount for one in statements]
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise
        return changed[0]

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._explain_errors():
            return self._database.execute(query, values).fetchall()

    def close(self) -> None:
        self._database.close()
