"""The server itself, and custom queries."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.postgres.client import login, rows
from saltern.modules.lib.databases.postgres.client import query as ask


@function
def version(
    ctx: Context,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> str:
    """The version of the server.

    Args:
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.version
        local:
            15.…
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return str(rows(ctx, who, "SELECT current_setting('server_version') AS version")[0]["version"])


@function
def psql_query(
    ctx: Context,
    query: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
    write: bool = False,
) -> list[dict[str, str]]:
    """Run one SQL statement. Returns a list of rows, each a mapping of columns.

    psql's own commands (such as ``\\!``) and variables have no effect.

    Args:
        query: the statement. It must not change anything, unless ``write`` is set.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.
        write: allow changes.

    Example:
        ```console
        $ saltern call postgres.psql_query "SELECT 6 * 7 AS answer, current_user AS role"
        local:
            |_
              ----------
              answer:
                  42
              role:
                  postgres
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return ask(ctx, who, query, write=write)
