"""``mysql_query``: run SQL on a MariaDB or MySQL server.

What SQL does is unknown before it runs, so it always counts as a change. Give it an ``output`` that is not
overwritten, ``onlyif`` or ``unless``, or ``onchanges``, to run it only when there is something to do.

The server is reached with its client program, ``mariadb`` or ``mysql``. Without any ``connection_``
argument it uses the options ``mysql.user``, ``mysql.pass``, ``mysql.host`` … of the configuration or the
pillar, and without those root logs in at the local socket.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Unpack

from msgspec import Struct

from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib import grains_file as kept
from saltern.modules.lib.databases.mysql import schemas
from saltern.modules.lib.databases.mysql.connection import Connection, ConnectionArguments, reach
from saltern.modules.lib.databases.mysql.queries import QueryResult, execute, script
from saltern.modules.lib.databases.mysql.sight import Sight

GRAIN = "grain"


class Output(Struct, frozen=True, kw_only=True):
    """Where the output goes: nowhere, to a grain or one key of it, or to a file."""

    output: str | None
    grain: str | None
    key: str | None
    overwrite: bool

    @property
    def place(self) -> str:
        if self.output != GRAIN:
            return self.output or ""
        return f"grain: {self.grain}:{self.key}" if self.key else f"grain: {self.grain}"


@state
def run(
    ctx: Context,
    /,
    name: str,  # noqa: ARG001 - a title
    *,
    database: str,
    query: str,
    output: str | None = None,
    grain: str | None = None,
    key: str | None = None,
    overwrite: bool = True,
    check_db_exists: bool = True,
    **connection: Unpack[ConnectionArguments],
) -> Result:
    """Run SQL on a database. Its output becomes the comment, or goes where ``output`` says.

    Args:
        name: a title.
        database: the database to run it on.
        query: the SQL, one statement or several.
        output: ``grain``, or the path of a file for the output.
        grain: the grain for the output.
        key: the key for the output in the grain, which is a mapping then.
        overwrite: run it and write the output even if the grain or the file exists already.
        check_db_exists: fail if the database does not exist; otherwise the SQL may create it.

    Example:
        ```yaml
        count_accounts:
          mysql_query.run:
            - database: mysql
            - query: SELECT COUNT(*) AS accounts FROM user
            - output: /tmp/accounts.txt
            - overwrite: false
        ```
    """
    server = reach(ctx, connection)
    into = Output(output=output, grain=grain, key=key, overwrite=overwrite)
    return _run(ctx, server, database, lambda at: execute(ctx, at, query), into, check_db_exists)


@state
def run_file(
    ctx: Context,
    /,
    name: str,
    *,
    database: str,
    query_file: str | None = None,
    output: str | None = None,
    grain: str | None = None,
    key: str | None = None,
    overwrite: bool = True,
    saltenv: str | None = None,
    check_db_exists: bool = True,
    **connection: Unpack[ConnectionArguments],
) -> Result:
    """Run a file of SQL on a database.

    Args:
        name: a title, or the file.
        database: the database to run it on.
        query_file: the file: a path, ``salt://`` or ``https://``; the name if not given.
        output: ``grain``, or the path of a file for the output.
        grain: the grain for the output.
        key: the key for the output in the grain, which is a mapping then.
        overwrite: run it and write the output even if the grain or the file exists already.
        saltenv: the environment for ``salt://``.
        check_db_exists: fail if the database does not exist; otherwise the SQL may create it.

    Example:
        ```yaml
        /tmp/shop.sql:
          file.managed:
            - contents: CREATE TABLE IF NOT EXISTS items (id INT PRIMARY KEY, name TEXT);

        shop:
          mysql_database.present: []

        shop_tables:
          mysql_query.run_file:
            - database: shop
            - query_file: /tmp/shop.sql
            - output: /tmp/shop.log
            - overwrite: false
            - require:
              - file: /tmp/shop.sql
              - mysql_database: shop
        ```
    """
    server = reach(ctx, connection)
    into = Output(output=output, grain=grain, key=key, overwrite=overwrite)
    source = query_file or name
    if source.startswith("salt://"):  # an earlier state may create any other one, which test mode cannot see
        script(ctx, source, saltenv)

    def from_file(at: Connection) -> QueryResult:
        return execute(ctx, at, script(ctx, source, saltenv))

    return _run(ctx, server, database, from_file, into, check_db_exists)


def _run(
    ctx: Context,
    server: Connection,
    database: str,
    answer: Callable[[Connection], QueryResult],
    into: Output,
    check: bool,
) -> Result:
    _check(into)
    facts: Changes = {"database": database, "output": into.place, "executed": False}
    if not into.overwrite and _is_there(ctx, into):
        comment = f"No execution needed. {into.place} is already set"
        return Result(outcome=Outcome.OK, comment=comment, data=facts)
    sight = Sight(ctx, lambda: schemas.get(ctx, server, database) is not None, False)
    if check and not sight.last and not ctx.test:
        return Result(outcome=Outcome.FAILED, comment=f"Database {database} is not present", data=facts)
    changes: Changes = {"query": f"Executed. Output into {into.place}" if into.place else "Executed"}
    if ctx.test:
        where = f"storing result in {into.place}" if into.place else "not storing result"
        return Result(
            outcome=Outcome.WOULD_CHANGE,
            comment=f"Query would execute, {where}",
            changes=changes,
            data=facts,
            warnings=sight.warnings,
        )
    found = answer(server.with_values(database=database if sight.last else ""))
    _store(ctx, into, found)
    facts |= {"executed": True, "answer": found.asdict()}
    return Result(outcome=Outcome.OK, comment=str(found.asdict()), changes=changes, data=facts)


def _check(into: Output) -> None:
    if into.output == GRAIN and not into.grain:
        raise Refused("output: grain needs the argument grain, the name of the grain")
    if into.output and into.output != GRAIN and not os.path.isabs(into.output):
        raise Refused(f"output must be 'grain' or the full path of a file, not {into.output!r}")


def _is_there(ctx: Context, into: Output) -> bool:
    if into.output != GRAIN:
        return bool(into.output) and ctx.host.exists(into.output or "")
    have = ctx.grains.get(into.grain or "")
    return isinstance(have, dict) and into.key in have if into.key else have is not None


def _store(ctx: Context, into: Output, found: QueryResult) -> None:
    if into.output == GRAIN:
        grains = kept.read(ctx)
        old = grains.get(into.grain or "")
        value: object = found.asdict()
        if into.key:
            value = {**(old if isinstance(old, dict) else {}), into.key: value}
        kept.write(ctx, {**grains, into.grain or "": value})
    elif into.output:
        ctx.host.write(into.output, found.text())
