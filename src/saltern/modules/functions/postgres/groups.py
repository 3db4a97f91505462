"""Groups: create, change and remove them."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.postgres import roles
from saltern.modules.lib.databases.postgres.client import login as connection
from saltern.modules.lib.databases.postgres.desired_role import desired_role


@function
def group_create(
    ctx: Context,
    groupname: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    createdb: bool | None = None,
    createroles: bool | None = None,
    encrypted: object = None,
    login: bool | None = None,
    inherit: bool | None = None,
    superuser: bool | None = None,
    replication: bool | None = None,
    rolepassword: str | None = None,
    groups: str | list[str] | None = None,
    runas: str | None = None,
) -> bool:
    """Create a group; false if it exists already.

    Args:
        groupname: its name.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.
        createdb: whether it may create databases.
        createroles: whether it may create other users and groups.
        encrypted: how the password is stored: ``scram-sha-256``, ``md5``, or the server's default.
        login: whether it may log in.
        inherit: whether it has the privileges of its groups automatically.
        superuser: whether it bypasses all permission checks.
        replication: whether it may start a replication.
        rolepassword: its password, or the stored form.
        groups: groups that it is in: a list, or one text with commas.

    Example:
        ```console
        $ saltern call postgres.group_create clerks
        local:
            True
        ```
    """
    who = connection(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    want = desired_role(
        groupname,
        createdb=createdb,
        createroles=createroles,
        encrypted=encrypted,
        login=bool(login),
        inherit=inherit,
        superuser=superuser,
        replication=replication,
        rolepassword=rolepassword,
        groups=groups,
    )
    return roles.create_missing(ctx, who, want)


@function
def group_update(
    ctx: Context,
    groupname: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    createdb: bool | None = None,
    createroles: bool | None = None,
    encrypted: object = None,
    inherit: bool | None = None,
    login: bool | None = None,
    superuser: bool | None = None,
    replication: bool | None = None,
    rolepassword: str | None = None,
    groups: str | list[str] | None = None,
    runas: str | None = None,
) -> bool:
    """Change a group; attributes that are not given stay unchanged. False if it does not exist.

    Args:
        groupname: its name.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.
        createdb: whether it may create databases.
        createroles: whether it may create other users and groups.
        encrypted: how the password is stored: ``scram-sha-256``, ``md5``, or the server's default.
        inherit: whether it has the privileges of its groups automatically.
        login: whether it may log in.
        superuser: whether it bypasses all permission checks.
        replication: whether it may start a replication.
        rolepassword: its password, or the stored form.
        groups: groups that it is in: a list, or one text with commas.

    Example:
        ```console
        $ saltern call postgres.group_update clerks inherit=true
        local:
            True
        ```
    """
    who = connection(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    want = desired_role(
        groupname,
        createdb=createdb,
        createroles=createroles,
        encrypted=encrypted,
        inherit=inherit,
        login=login,
        superuser=superuser,
        replication=replication,
        rolepassword=rolepassword,
        groups=groups,
    )
    return roles.alter_existing(ctx, who, want)


@function
def group_remove(
    ctx: Context,
    groupname: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """Remove a group, which must not own any objects; false if it does not exist.

    Args:
        groupname: its name.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.group_remove clerks
        local:
            True
        ```
    """
    who = connection(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return roles.drop_if_present(ctx, who, str(groupname))
