"""Languages for functions of a database: list, add and remove them."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.postgres import inside
from saltern.modules.lib.databases.postgres.client import check_name, login


@function
def language_list(
    ctx: Context,
    maintenance_db: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> dict[str, str]:
    """All languages for functions of a database.

    Args:
        maintenance_db: the database.
        user, host, port, password: how to connect; the defaults are the options ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.language_list postgres
        local:
            ----------
            c:
                c
            internal:
                internal
            plpgsql:
                plpgsql
            sql:
                sql
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return {one.name: one.name for one in inside.languages(ctx, who)}


@function
def language_exists(
    ctx: Context,
    name: str,
    maintenance_db: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """True if a language for functions is installed in a database.

    Args:
        name: the language.
        maintenance_db: the database.
        user, host, port, password: how to connect; the defaults are the options ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.language_exists plpgsql postgres
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return inside.language(ctx, who, str(name)) is not None


@function
def language_create(
    ctx: Context,
    name: str,
    maintenance_db: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """Install a language for functions in a database; false if it is installed already.

    Args:
        name: the language.
        maintenance_db: the database.
        user, host, port, password: how to connect; the defaults are the options ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.language_create plpgsql postgres
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    if inside.language(ctx, who, check_name(name, "name")) is not None:
        return False
    inside.create_language(ctx, who, str(name))
    return True


@function
def language_remove(
    ctx: Context,
    name: str,
    maintenance_db: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """Remove a language, which no function may use; false if it is not installed.

    Args:
        name: the language.
        maintenance_db: the database.
        user, host, port, password: how to connect; the defaults are the options ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.language_remove plpgsql postgres
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    if inside.language(ctx, who, str(name)) is None:
        return False
    inside.drop_language(ctx, who, str(name))
    return True
