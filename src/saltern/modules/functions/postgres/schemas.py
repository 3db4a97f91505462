"""Schemas: list, create and remove them."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.postgres import inside
from saltern.modules.lib.databases.postgres.client import Login, check_name, login


def _who(
    ctx: Context,
    dbname: str,
    user: str | None,
    db_user: str | None,
    db_password: str | None,
    db_host: str | None,
    db_port: str | None,
) -> Login:
    return login(ctx, user=db_user, host=db_host, port=db_port, db=dbname, password=db_password, runas=user)


@function
def schema_list(
    ctx: Context,
    dbname: str,
    user: str | None = None,
    db_user: str | None = None,
    db_password: str | None = None,
    db_host: str | None = None,
    db_port: str | None = None,
) -> dict[str, dict[str, str]]:
    """Every schema of a database, with ``owner`` and ``acl``.

    Args:
        dbname: the database.
        user: the system user that psql runs as; ``postgres`` for a local server.
        db_user, db_password, db_host, db_port: how to connect; the defaults are the options
            ``postgres.*``.

    Example:
        ```console
        $ saltern call postgres.schema_list postgres
        local:
            ----------
            …
            public:
                ----------
                acl:
                    …
                owner:
                    pg_database_owner
        ```
    """
    who = _who(ctx, str(dbname), user, db_user, db_password, db_host, db_port)
    return {one.name: {"owner": one.owner, "acl": one.acl or ""} for one in inside.schemas(ctx, who)}


@function
def schema_get(
    ctx: Context,
    dbname: str,
    name: str,
    user: str | None = None,
    db_user: str | None = None,
    db_password: str | None = None,
    db_host: str | None = None,
    db_port: str | None = None,
) -> dict[str, str] | None:
    """The entry of one schema in ``postgres.schema_list``; None if there is none.

    Args:
        dbname: the database.
        name: the schema.
        user: the system user that psql runs as; ``postgres`` for a local server.
        db_user, db_password, db_host, db_port: how to connect; the defaults are the options
            ``postgres.*``.

    Example:
        ```console
        $ saltern call postgres.schema_get postgres public
        local:
            ----------
            acl:
                {pg_database_owner=UC/pg_database_owner,=U/pg_database_owner}
            owner:
                pg_database_owner
        ```
    """
    who = _who(ctx, str(dbname), user, db_user, db_password, db_host, db_port)
    found = inside.schema(ctx, who, str(name))
    return None if found is None else {"owner": found.owner, "acl": found.acl or ""}


@function
def schema_exists(
    ctx: Context,
    dbname: str,
    name: str,
    user: str | None = None,
    db_user: str | None = None,
    db_password: str | None = None,
    db_host: str | None = None,
    db_port: str | None = None,
) -> bool:
    """True if a database has a schema.

    Args:
        dbname: the database.
        name: the schema.
        user: the system user that psql runs as; ``postgres`` for a local server.
        db_user, db_password, db_host, db_port: how to connect; the defaults are the options
            ``postgres.*``.

    Example:
        ```console
        $ saltern call postgres.schema_exists postgres public
        local:
            True
        ```
    """
    who = _who(ctx, str(dbname), user, db_user, db_password, db_host, db_port)
    return inside.schema(ctx, who, str(name)) is not None


@function
def schema_create(
    ctx: Context,
    dbname: str,
    name: str,
    owner: str | None = None,
    user: str | None = None,
    db_user: str | None = None,
    db_password: str | None = None,
    db_host: str | None = None,
    db_port: str | None = None,
) -> bool:
    """Create a schema; false if it exists already.

    Args:
        dbname: the database.
        name: the schema.
        owner: its owner.
        user: the system user that psql runs as; ``postgres`` for a local server.
        db_user, db_password, db_host, db_port: how to connect; the defaults are the options
            ``postgres.*``.

    Example:
        ```console
        $ saltern call postgres.schema_create postgres billing
        local:
            True
        ```
    """
    who = _who(ctx, str(dbname), user, db_user, db_password, db_host, db_port)
    if inside.schema(ctx, who, check_name(name, "name")) is not None:
        return False
    inside.create_schema(ctx, who, str(name), owner)
    return True


@function
def schema_remove(
    ctx: Context,
    dbname: str,
    name: str,
    user: str | None = None,
    db_user: str | None = None,
    db_password: str | None = None,
    db_host: str | None = None,
    db_port: str | None = None,
) -> bool:
    """Remove a schema, which must be empty; false if it does not exist.

    Args:
        dbname: the database.
        name: the schema.
        user: the system user that psql runs as; ``postgres`` for a local server.
        db_user, db_password, db_host, db_port: how to connect; the defaults are the options
            ``postgres.*``.

    Example:
        ```console
        $ saltern call postgres.schema_remove postgres billing
        local:
            True
        ```
    """
    who = _who(ctx, str(dbname), user, db_user, db_password, db_host, db_port)
    if inside.schema(ctx, who, str(name)) is None:
        return False
    inside.drop_schema(ctx, who, str(name))
    return True
