"""``mysql``: replication between servers."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.mysql import client
from saltern.modules.lib.databases.mysql.answers import Row
from saltern.modules.lib.databases.mysql.connection import Connection, connection

UNKNOWN_STATEMENT = 1064
# The statements of older and newer servers; the first that the server understands is used.
OF_MASTER = ("SHOW MASTER STATUS", "SHOW BINARY LOG STATUS")
OF_SLAVE = ("SHOW SLAVE STATUS", "SHOW REPLICA STATUS")
RUNNING = ("Slave_IO_Running", "Replica_IO_Running")
BEHIND = ("Seconds_Behind_Master", "Seconds_Behind_Source")
NO_SLAVE, NOT_RUNNING, NO_ANSWER = -1, -2, -3


def _first(ctx: Context, server: Connection, statements: tuple[str, ...]) -> Row:
    for statement in statements:
        try:
            return next(iter(client.rows(ctx, server, statement)), {})
        except client.ServerRefused as refused:
            if refused.code != UNKNOWN_STATEMENT or statement == statements[-1]:
                raise
    return {}


@function
def get_master_status(ctx: Context, /, **connection_args: object) -> dict[str, str | None]:
    """The position in the binary log of this server; empty if it has none.

    Args:
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.get_master_status
        ```
    """
    return _first(ctx, connection(ctx, connection_args), OF_MASTER)


@function
def get_slave_status(ctx: Context, /, **connection_args: object) -> dict[str, str | None]:
    """The replication status of this server; empty if it does not replicate another.

    Args:
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.get_slave_status
        ```
    """
    return _first(ctx, connection(ctx, connection_args), OF_SLAVE)


@function
def slave_lag(ctx: Context, /, **connection_args: object) -> int:
    """How many seconds this server is behind the one it replicates.

    -1 if it replicates none, -2 if replication does not run, -3 if the server cannot be reached.

    Args:
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.slave_lag
        ```
    """
    try:
        found = _first(ctx, connection(ctx, connection_args), OF_SLAVE)
    except client.ServerRefused:
        return NO_ANSWER
    if not found:
        return NO_SLAVE
    running = next((found[name] for name in RUNNING if name in found), None)
    behind = next((found[name] for name in BEHIND if name in found), None)
    return int(behind) if running == "Yes" and behind is not None else NOT_RUNNING
