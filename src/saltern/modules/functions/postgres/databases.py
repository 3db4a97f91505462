"""Databases: list, create, change and remove them."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.postgres import owners, stores
from saltern.modules.lib.databases.postgres.client import check_name, login


@function
def db_list(
    ctx: Context,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> dict[str, dict[str, str]]:
    """Every database of the server, with ``Owner``, ``Encoding``, ``Collate``, ``Ctype``, ``Tablespace`` …

    Args:
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.db_list
        local:
            ----------
            postgres:
                ----------
                Access privileges:
                    …
                Collate:
                    C.UTF-8
                Ctype:
                    C.UTF-8
                Encoding:
                    UTF8
                Owner:
                    postgres
                Tablespace:
                    pg_default
            …
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return {
        one.name: {
            "Owner": one.owner,
            "Encoding": one.encoding,
            "Collate": one.lc_collate,
            "Ctype": one.lc_ctype,
            "Access privileges": one.acl or "",
            "Tablespace": one.tablespace,
        }
        for one in stores.databases(ctx, who)
    }


@function
def db_exists(
    ctx: Context,
    name: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """True if the server has a database.

    Args:
        name: the database.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.db_exists postgres
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return stores.database(ctx, who, str(name)) is not None


@function
def db_create(
    ctx: Context,
    name: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    tablespace: str | None = None,
    encoding: str | None = None,
    lc_collate: str | None = None,
    lc_ctype: str | None = None,
    owner: str | None = None,
    template: str | None = None,
    runas: str | None = None,
) -> bool:
    """Create a database; false if it exists already.

    Args:
        name: the database.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.
        tablespace: its tablespace.
        encoding: the encoding of its text, such as ``UTF8``.
        lc_collate, lc_ctype: the locales for sorting and for character classes.
        owner: its owner.
        template: the database to copy.

    Example:
        ```console
        $ saltern call postgres.db_create shop owner=postgres encoding=UTF8 template=template0
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    if stores.database(ctx, who, check_name(name, "name")) is not None:
        return False
    given = {
        "owner": owner,
        "template": template,
        "encoding": encoding,
        "lc_collate": lc_collate,
        "lc_ctype": lc_ctype,
        "tablespace": tablespace,
    }
    parts = {key: str(value) for key, value in given.items() if value}
    stores.create_database(ctx, who, str(name), parts)
    return True


@function
def db_alter(
    ctx: Context,
    name: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    tablespace: str | None = None,
    owner: str | None = None,
    owner_recurse: bool = False,
    runas: str | None = None,
) -> bool:
    """Change the owner or the tablespace of a database; false if neither is given.

    Args:
        name: the database.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.
        tablespace: its new tablespace.
        owner: its new owner.
        owner_recurse: give everything in it to the new owner, too.

    Example:
        ```console
        $ saltern call postgres.db_alter postgres owner=postgres
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    if not (tablespace or owner):
        return False
    stores.alter_database(
        ctx, who, str(name), owner=owner, tablespace=tablespace, owner_recurse=owner_recurse
    )
    return True


@function
def db_remove(
    ctx: Context,
    name: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """Remove a database with all its data; there must be no connections to it. False if it does not exist.

    Args:
        name: the database.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.db_remove shop
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    if stores.database(ctx, who, str(name)) is None:
        return False
    stores.drop_database(ctx, who, str(name))
    return True


@function
def owner_to(
    ctx: Context,
    dbname: str,
    ownername: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """Set the owner of everything in a database (schemas, tables, views, sequences, functions, types).

    Args:
        dbname: the database.
        ownername: the new owner.
        user, host, port, password: how to connect; the defaults are the options ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.owner_to postgres postgres
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, password=password, runas=runas)
    owners.hand_over(ctx, who, str(dbname), str(ownername))
    return True
