"""``mysql``: SQL of one's own."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.mysql import literals
from saltern.modules.lib.databases.mysql.connection import connection
from saltern.modules.lib.databases.mysql.queries import execute, script


@function
def query(ctx: Context, /, database: str, query: str, **connection_args: object) -> dict[str, object]:
    """Run SQL: its rows, or how many rows it changed. Values are text, or none.

    Of several statements the last rows count. Without rows there are no names of columns.

    Args:
        database: the database to run it on; empty for none.
        query: the SQL.
        **connection_args: how to reach the server; see the head of this page.

    Example:
        ```jinja
        {{ salt['mysql.query']('mysql', 'SELECT COUNT(*) FROM user')['results'][0][0] }} accounts
        ```
    """
    server = connection(ctx, connection_args).using(database=database)
    return execute(ctx, server, str(query)).salt()


@function
def file_query(
    ctx: Context, /, database: str, file_name: str, saltenv: str | None = None, **connection_args: object
) -> dict[str, object]:
    """Run a file of SQL: its last rows, or how many rows it changed in all.

    Args:
        database: the database to run it on; empty for none.
        file_name: the file: a path, ``salt://`` or ``https://``.
        saltenv: the environment that ``salt://`` is looked up in.
        **connection_args: how to reach the server; see the head of this page.

    Example:
        ```console
        $ saltern call mysql.file_query shop /srv/shop.sql
        ```
    """
    server = connection(ctx, connection_args).using(database=database)
    return execute(ctx, server, script(ctx, file_name, saltenv)).salt()


@function
def quote_identifier(
    ctx: Context,  # noqa: ARG001 - nothing is asked
    identifier: str,
    for_grants: bool = False,
) -> str:
    """A name in backticks, to be part of a statement.

    Args:
        identifier: the name of a database, a table or a column.
        for_grants: for the database of a grant, where ``_`` and ``%`` stand for any sign: escape those, too.

    Example:
        ```console
        $ saltern call mysql.quote_identifier 'foo`bar'
        local:
            `foo``bar`
        ```
    """
    return literals.name(literals.literal_pattern(identifier) if for_grants else identifier)
