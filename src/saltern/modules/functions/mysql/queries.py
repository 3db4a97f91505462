"""``mysql``: run SQL."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.mysql import literals
from saltern.modules.lib.databases.mysql.connection import connection
from saltern.modules.lib.databases.mysql.queries import execute, script


@function
def query(ctx: Context, /, database: str, query: str, **connection_args: object) -> dict[str, object]:
    """Run SQL. Returns its rows, or the number of changed rows. Values are text, or None.

    For several statements, the last rows are returned. Without rows there are no column names.

    Args:
        database: the database to run it on; empty for none.
        query: the SQL.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```jinja
        {{ salt['mysql.query']('mysql', 'SELECT COUNT(*) FROM user')['results'][0][0] }} accounts
        ```
    """
    server = connection(ctx, connection_args).with_values(database=database)
    return execute(ctx, server, str(query)).salt()


@function
def file_query(
    ctx: Context, /, database: str, file_name: str, saltenv: str | None = None, **connection_args: object
) -> dict[str, object]:
    """Run a file of SQL. Returns its last rows, or the total number of changed rows.

    Args:
        database: the database to run it on; empty for none.
        file_name: the file: a path, ``salt://`` or ``https://``.
        saltenv: the environment for ``salt://``.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.file_query shop /srv/shop.sql
        ```
    """
    server = connection(ctx, connection_args).with_values(database=database)
    return execute(ctx, server, script(ctx, file_name, saltenv)).salt()


@function
def quote_identifier(
    ctx: Context,  # noqa: ARG001 - nothing is asked
    identifier: str,
    for_grants: bool = False,
) -> str:
    """Quote a name with backticks, for use in a statement.

    Args:
        identifier: the name of a database, a table or a column.
        for_grants: also escape ``_`` and ``%``, which are wildcards in the database of a grant.

    Example:
        ```console
        $ saltern call mysql.quote_identifier 'foo`bar'
        local:
            `foo``bar`
        ```
    """
    return literals.name(literals.literal_pattern(identifier) if for_grants else identifier)
