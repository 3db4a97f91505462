"""Extensions of a database: install, upgrade and remove them."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib.databases.postgres import inside
from saltern.modules.lib.databases.postgres.client import Login, check_name, login
from saltern.modules.lib.databases.postgres.inside import Extension

NOT_INSTALLED, INSTALLED = "EXTENSION NOT INSTALLED", "EXTENSION INSTALLED"
TO_UPGRADE, TO_MOVE = "EXTENSION TO UPGRADE", "EXTENSION TO MOVE"


@function
def create_metadata(
    ctx: Context,
    name: str,
    ext_version: str | None = None,
    schema: str | None = None,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> list[str]:
    """What has to be done for an extension: ``EXTENSION NOT INSTALLED``, ``EXTENSION TO UPGRADE`` …

    Args:
        name: the extension.
        ext_version: the wanted version.
        schema: the wanted schema.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.create_metadata plpgsql
        local:
            - EXTENSION INSTALLED
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return _todo(inside.extension(ctx, who, str(name)), ext_version, schema)


def _todo(have: Extension | None, version: str | None, schema: str | None) -> list[str]:
    if have is None:
        return [NOT_INSTALLED]
    flags = ((TO_UPGRADE, version, have.version), (TO_MOVE, schema, have.schema))
    return [INSTALLED, *(flag for flag, want, now in flags if want and str(want) != now)]


@function
def create_extension(
    ctx: Context,
    name: str,
    if_not_exists: bool | None = None,  # noqa: ARG001 - Salt's; this is always checked first
    schema: str | None = None,
    ext_version: str | None = None,
    from_version: str | None = None,  # noqa: ARG001 - Salt's; servers of today have no such thing
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """Install an extension, or change its version or schema; false if there is nothing to do.

    Args:
        name: the extension.
        if_not_exists: has no effect: this is always checked first.
        schema: the wanted schema.
        ext_version: the wanted version.
        from_version: no effect on current servers.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.create_extension hstore
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    want = {"schema": schema and str(schema), "version": ext_version and str(ext_version)}
    todo = _todo(inside.extension(ctx, who, check_name(name, "name")), ext_version, schema)
    if todo == [NOT_INSTALLED]:
        inside.create_extension(ctx, who, str(name), **want)
    elif len(todo) > 1:
        _alter(ctx, who, str(name), todo, want)
    return todo != [INSTALLED]


def _alter(ctx: Context, who: Login, name: str, todo: list[str], want: dict[str, str | None]) -> None:
    inside.alter_extension(
        ctx,
        who,
        name,
        schema=want["schema"] if TO_MOVE in todo else None,
        version=want["version"] if TO_UPGRADE in todo else None,
    )


@function
def drop_extension(
    ctx: Context,
    name: str,
    if_exists: bool | None = None,  # noqa: ARG001 - Salt's; this is always checked first
    restrict: bool | None = None,
    cascade: bool | None = None,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """Remove an extension from a database; true if it was not installed.

    Args:
        name: the extension.
        if_exists: has no effect: this is always checked first.
        restrict: fail if something else depends on it; the default without ``cascade``.
        cascade: also remove all objects that depend on it.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.drop_extension hstore
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    if restrict and cascade:
        raise Refused("restrict and cascade cannot be combined")
    if inside.extension(ctx, who, str(name)) is not None:
        inside.drop_extension(ctx, who, str(name), cascade=bool(cascade))
    return True
