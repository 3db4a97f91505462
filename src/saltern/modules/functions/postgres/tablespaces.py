"""Tablespaces: list, create, change and remove them."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.postgres import stores
from saltern.modules.lib.databases.postgres.client import check_name, login


@function
def tablespace_list(
    ctx: Context,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> dict[str, dict[str, str]]:
    """Every tablespace of the server, with ``Owner``, ``ACL``, ``Opts`` and ``Location``.

    Args:
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.tablespace_list
        local:
            ----------
            pg_default:
                ----------
                ACL:
                Location:
                Opts:
                Owner:
                    postgres
            pg_global:
                ----------
                ACL:
                Location:
                Opts:
                Owner:
                    postgres
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return {
        one.name: {
            "Owner": one.owner,
            "ACL": one.acl or "",
            "Opts": f"{{{','.join(one.options)}}}" if one.options else "",
            "Location": one.location,
        }
        for one in stores.tablespaces(ctx, who)
    }


@function
def tablespace_exists(
    ctx: Context,
    name: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """True if the server has a tablespace.

    Args:
        name: the tablespace.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.tablespace_exists pg_default
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return stores.tablespace(ctx, who, str(name)) is not None


@function
def tablespace_create(
    ctx: Context,
    name: str,
    location: str,
    options: dict[str, object] | None = None,
    owner: str | None = None,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """Create a tablespace.

    Args:
        name: the tablespace.
        location: its location: an empty directory that belongs to the user the server runs as.
        options: ``seq_page_cost``, ``random_page_cost`` and others.
        owner: its owner.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ install -d -o postgres /var/lib/postgresql/fast
        $ saltern call postgres.tablespace_create fast /var/lib/postgresql/fast
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    settings = {check_name(key, "an option"): str(value) for key, value in (options or {}).items()}
    stores.create_tablespace(ctx, who, check_name(name, "name"), str(location), owner=owner, options=settings)
    return True


@function
def tablespace_alter(
    ctx: Context,
    name: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    new_name: str | None = None,
    new_owner: str | None = None,
    set_option: dict[str, object] | None = None,
    reset_option: str | None = None,
    runas: str | None = None,
) -> bool:
    """Change the name, the owner or the options of a tablespace; false if nothing is given.

    Args:
        name: the tablespace.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.
        new_name: its new name.
        new_owner: its new owner.
        set_option: options and their new values.
        reset_option: an option to reset to the server's default.

    Example:
        ```console
        $ saltern call postgres.tablespace_alter pg_default set_option='{random_page_cost: 1.1}'
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    if not (new_name or new_owner or set_option or reset_option):
        return False
    stores.alter_tablespace(
        ctx,
        who,
        str(name),
        owner=new_owner,
        options={check_name(key, "an option"): str(value) for key, value in (set_option or {}).items()},
        reset=reset_option,
        new_name=new_name and check_name(new_name, "new_name"),
    )
    return True


@function
def tablespace_remove(
    ctx: Context,
    name: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """Remove a tablespace, which must be empty; false if it does not exist.

    Args:
        name: the tablespace.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.tablespace_remove fast
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    if stores.tablespace(ctx, who, str(name)) is None:
        return False
    stores.drop_tablespace(ctx, who, str(name))
    return True
