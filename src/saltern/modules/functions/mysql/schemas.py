"""``mysql``: databases."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.mysql import client, schemas
from saltern.modules.lib.databases.mysql.connection import Connection, connection
from saltern.modules.lib.databases.mysql.literals import name as quoted
from saltern.modules.lib.databases.mysql.literals import text


@function
def db_list(ctx: Context, /, **connection_args: object) -> list[str]:
    """The names of all databases.

    Args:
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.db_list
        ```
    """
    return [one.name for one in schemas.every(ctx, connection(ctx, connection_args))]


@function
def db_get(ctx: Context, /, name: str, **connection_args: object) -> dict[str, str]:
    """The character set and the collation of a database; empty if there is none.

    Args:
        name: the database.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.db_get mysql
        ```
    """
    found = schemas.get(ctx, connection(ctx, connection_args), name)
    return {"character_set": found.character_set, "collate": found.collate} if found else {}


@function
def db_exists(ctx: Context, /, name: str, **connection_args: object) -> bool:
    """True if a database exists.

    Args:
        name: the database.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.db_exists mysql
        local:
            True
        ```
    """
    return schemas.get(ctx, connection(ctx, connection_args), name) is not None


@function
def db_tables(ctx: Context, /, name: str, **connection_args: object) -> list[str]:
    """The tables and views of a database; none if there is no such database.

    Args:
        name: the database.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.db_tables mysql
        ```
    """
    server = connection(ctx, connection_args)
    return _tables(ctx, server, name) if schemas.get(ctx, server, name) else []


def _tables(ctx: Context, server: Connection, name: str, kind: str = "%") -> list[str]:
    asked = f"SHOW FULL TABLES FROM {quoted(name)} WHERE Table_type LIKE {text(kind)}"
    return [str(row[0]) for table in client.ask(ctx, server, asked) for row in table.rows]


@function
def db_create(
    ctx: Context,
    /,
    name: str,
    character_set: str | None = None,
    collate: str | None = None,
    **connection_args: object,
) -> bool:
    """Create a database; false if it exists already.

    Args:
        name: the database.
        character_set: its default character set.
        collate: its default collation.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.db_create shop utf8mb4 utf8mb4_unicode_ci
        local:
            True
        ```
    """
    server = connection(ctx, connection_args)
    if schemas.get(ctx, server, name):
        return False
    schemas.create(ctx, server, name, character_set, collate)
    return True


@function
def alter_db(
    ctx: Context,
    /,
    name: str,
    character_set: str | None = None,
    collate: str | None = None,
    **connection_args: object,
) -> bool:
    """Change the character set or the collation of a database; false if there is no such database.

    Args:
        name: the database.
        character_set: its new default character set.
        collate: its new default collation.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.alter_db shop character_set=utf8mb4
        local:
            True
        ```
    """
    server = connection(ctx, connection_args)
    if schemas.get(ctx, server, name) is None:
        return False
    schemas.alter(ctx, server, name, character_set, collate)
    return True


@function
def db_remove(ctx: Context, /, name: str, **connection_args: object) -> bool:
    """Drop a database with all its data; false if it does not exist, or belongs to the server.

    Args:
        name: the database.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.db_remove shop
        local:
            True
        ```
    """
    server = connection(ctx, connection_args)
    if name.lower() in schemas.SYSTEM or schemas.get(ctx, server, name) is None:
        return False
    schemas.drop(ctx, server, name)
    return True


@function
def db_check(
    ctx: Context, /, name: str, table: str | None = None, **connection_args: object
) -> list[dict[str, str | None]]:
    """Check tables for errors. Returns the messages of the server.

    Args:
        name: the database.
        table: one table; all of the database if not given.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.db_check mysql plugin
        ```
    """
    return _each_table(ctx, connection(ctx, connection_args), "CHECK", name, table)


@function
def db_repair(
    ctx: Context, /, name: str, table: str | None = None, **connection_args: object
) -> list[dict[str, str | None]]:
    """Repair tables. Returns the messages of the server.

    Args:
        name: the database.
        table: one table; all of the database if not given.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.db_repair mysql plugin
        ```
    """
    return _each_table(ctx, connection(ctx, connection_args), "REPAIR", name, table)


@function
def db_optimize(
    ctx: Context, /, name: str, table: str | None = None, **connection_args: object
) -> list[dict[str, str | None]]:
    """Optimize tables: release unused space. Returns the messages of the server.

    Args:
        name: the database.
        table: one table; all of the database if not given.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.db_optimize mysql plugin
        ```
    """
    return _each_table(ctx, connection(ctx, connection_args), "OPTIMIZE", name, table)


def _each_table(
    ctx: Context, server: Connection, verb: str, name: str, table: str | None
) -> list[dict[str, str | None]]:
    chosen = [table] if table else _tables(ctx, server, name, "BASE TABLE")
    if not chosen:
        return []
    return client.rows(
        ctx, server, f"{verb} TABLE {', '.join(f'{quoted(name)}.{quoted(one)}' for one in chosen)}"
    )
