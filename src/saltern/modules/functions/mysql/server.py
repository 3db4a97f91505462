"""``mysql``: the server itself."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.mysql import client, dialect
from saltern.modules.lib.databases.mysql.connection import connection


def _values(ctx: Context, connection_args: Mapping[str, object], statement: str) -> dict[str, str | None]:
    found = client.rows(ctx, connection(ctx, connection_args), statement)
    return {str(row["Variable_name"]): row["Value"] for row in found}


@function
def version(ctx: Context, /, **connection_args: object) -> str:
    """The version of the server.

    Args:
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.version
        ```
    """
    return dialect.version(ctx, connection(ctx, connection_args))


@function
def status(ctx: Context, /, **connection_args: object) -> dict[str, str | None]:
    """The counters of the server: connections, queries, bytes …

    Args:
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.status
        ```
    """
    return _values(ctx, connection_args, "SHOW STATUS")


@function
def showvariables(ctx: Context, /, **connection_args: object) -> dict[str, str | None]:
    """The settings of the session.

    Args:
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.showvariables
        ```
    """
    return _values(ctx, connection_args, "SHOW VARIABLES")


@function
def showglobal(ctx: Context, /, **connection_args: object) -> dict[str, str | None]:
    """The settings of the server.

    Args:
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.showglobal
        ```
    """
    return _values(ctx, connection_args, "SHOW GLOBAL VARIABLES")


@function
def processlist(ctx: Context, /, **connection_args: object) -> list[dict[str, str | None]]:
    """What the server is doing now, one mapping per connection.

    Args:
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.processlist
        ```
    """
    return client.rows(ctx, connection(ctx, connection_args), "SHOW FULL PROCESSLIST")
