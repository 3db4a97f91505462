"""Run a user's own SQL unchanged, with the result in Salt's form."""

from __future__ import annotations

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib import addresses
from saltern.modules.lib.databases.mysql import client
from saltern.modules.lib.databases.mysql.answers import Row, Table
from saltern.modules.lib.databases.mysql.connection import Connection

AT_ONCE = 0.2  # seconds; shorter times are shown in milliseconds


class QueryResult(Struct, frozen=True):
    """``table`` is the last result of the statements; None if there is none."""

    seconds: float
    affected: int
    table: Table | None = None

    @property
    def time(self) -> dict[str, str]:
        fast = self.seconds < AT_ONCE
        human = f"{round(self.seconds * 1000, 1)}ms" if fast else f"{round(self.seconds, 2)}s"
        return {"human": human, "raw": str(round(self.seconds, 5))}

    def asdict(self) -> dict[str, object]:
        """The result with each row as a mapping, as the states show it."""
        rows: object = self.table.mappings() if self.table else None
        return {**self.salt(), "results": rows} if self.table else self.salt()

    def salt(self) -> dict[str, object]:
        """The result with each row as a list, as ``mysql.query`` returns it."""
        if self.table is None:
            return {"query time": self.time, "rows affected": self.affected}
        return {
            "query time": self.time,
            "rows returned": len(self.table.rows),
            "columns": list(self.table.columns),
            "results": [list(row) for row in self.table.rows],
        }

    def text(self) -> str:
        """The text for a file: a line for each value, as ``column:value``."""
        if self.table is None:
            return f"{self.asdict()}\n"
        pairs = (pair for row in self.table.mappings() for pair in _pairs(row))
        return "".join(f"{column}:{value}\n" for column, value in pairs)


def _pairs(row: Row) -> list[tuple[str, str]]:
    return [(column, "NULL" if value is None else value) for column, value in row.items()]


def execute(ctx: Context, server: Connection, statements: str | bytes) -> QueryResult:
    begin = ctx.clock.tick()
    found, affected = client.results_and_count(ctx, server, statements)
    return QueryResult(ctx.clock.tick() - begin, affected, found[-1] if found else None)


def script(ctx: Context, source: str, saltenv: str | None = None) -> bytes:
    """The content of a file: a path, ``salt://``, or a URL."""
    found = addresses.content(ctx, source, saltenv)
    if found is None:
        raise Refused(f"there is no file {source!r}")
    return found
