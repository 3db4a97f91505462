"""Extensions: the available ones, and those of a database."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.postgres import inside
from saltern.modules.lib.databases.postgres.client import login
from saltern.modules.lib.databases.postgres.inside import Available, Extension


def _offered_facts(one: Available) -> dict[str, str]:
    return {"name": one.name, "default_version": one.default_version, "comment": one.comment or ""}


def _installed_facts(one: Extension) -> dict[str, str]:
    return {
        "extname": one.name,
        "extversion": one.version,
        "extrelocatable": "t" if one.relocatable else "f",
        "schema_name": one.schema,
        "owner": one.owner,
    }


@function
def available_extensions(
    ctx: Context,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> dict[str, dict[str, str]]:
    """All extensions that can be installed, with ``default_version`` and ``comment``.

    Args:
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.available_extensions
        local:
            ----------
            …
            hstore:
                ----------
                comment:
                    data type for storing sets of (key, value) pairs
                default_version:
                    1.8
                name:
                    hstore
            …
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return {one.name: _offered_facts(one) for one in inside.available(ctx, who)}


@function
def installed_extensions(
    ctx: Context,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> dict[str, dict[str, str]]:
    """All extensions of a database, with ``extversion`` and ``schema_name``.

    Args:
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.installed_extensions
        local:
            ----------
            plpgsql:
                ----------
                extname:
                    plpgsql
                extrelocatable:
                    f
                extversion:
                    1.0
                owner:
                    postgres
                schema_name:
                    pg_catalog
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return {one.name: _installed_facts(one) for one in inside.installed_extensions(ctx, who)}


@function
def get_available_extension(
    ctx: Context,
    name: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> dict[str, str] | None:
    """The entry of one extension in ``postgres.available_extensions``; None if there is none.

    Args:
        name: the extension.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.get_available_extension plpgsql
        local:
            ----------
            comment:
                PL/pgSQL procedural language
            default_version:
                1.0
            name:
                plpgsql
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return next((_offered_facts(one) for one in inside.available(ctx, who, str(name))), None)


@function
def get_installed_extension(
    ctx: Context,
    name: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> dict[str, str] | None:
    """The entry of one extension in ``postgres.installed_extensions``; None if there is none.

    Args:
        name: the extension.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.get_installed_extension plpgsql
        local:
            ----------
            extname:
                plpgsql
            extrelocatable:
                f
            extversion:
                1.0
            owner:
                postgres
            schema_name:
                pg_catalog
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return next((_installed_facts(one) for one in inside.installed_extensions(ctx, who, str(name))), None)


@function
def is_available_extension(
    ctx: Context,
    name: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """True if an extension can be installed.

    Args:
        name: the extension.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.is_available_extension plpgsql
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return bool(inside.available(ctx, who, str(name)))


@function
def is_installed_extension(
    ctx: Context,
    name: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """True if a database has an extension.

    Args:
        name: the extension.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.is_installed_extension plpgsql
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return inside.extension(ctx, who, str(name)) is not None
