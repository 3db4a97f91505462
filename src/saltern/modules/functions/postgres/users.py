"""Users: create, change and remove them."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.postgres import roles
from saltern.modules.lib.databases.postgres.client import login as connection
from saltern.modules.lib.databases.postgres.desired_role import desired_role


@function
def user_create(
    ctx: Context,
    username: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    createdb: bool | None = None,
    createroles: bool | None = None,
    inherit: bool | None = None,
    login: bool | None = None,
    connlimit: int | None = None,
    encrypted: object = None,
    superuser: bool | None = None,
    replication: bool | None = None,
    rolepassword: str | None = None,
    valid_until: str | None = None,
    groups: str | list[str] | None = None,
    runas: str | None = None,
) -> bool:
    """Create a user, who may log in unless ``login`` is false; false if it exists already.

    Args:
        username: its name.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.
        createdb: whether it may create databases.
        createroles: whether it may create other users and groups.
        inherit: whether it has the privileges of its groups automatically.
        login: whether it may log in.
        connlimit: the maximum number of its connections; -1 for no limit.
        encrypted: how the password is stored: ``scram-sha-256``, ``md5``, or the server's default.
        superuser: whether it bypasses all permission checks.
        replication: whether it may start a replication.
        rolepassword: its password, or the stored form.
        valid_until: when the password expires: ``2030-12-31``, or ``infinity``.
        groups: groups that it is in: a list, or one text with commas.

    Example:
        ```console
        $ saltern call postgres.user_create shop createdb=true
        local:
            True
        ```
    """
    who = connection(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    want = desired_role(
        username,
        createdb=createdb,
        createroles=createroles,
        inherit=inherit,
        login=login is not False,
        connlimit=connlimit,
        encrypted=encrypted,
        superuser=superuser,
        replication=replication,
        rolepassword=rolepassword,
        valid_until=valid_until,
        groups=groups,
    )
    return roles.create_missing(ctx, who, want)


@function
def user_update(
    ctx: Context,
    username: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    createdb: bool | None = None,
    createroles: bool | None = None,
    encrypted: object = None,
    superuser: bool | None = None,
    inherit: bool | None = None,
    login: bool | None = None,
    connlimit: int | None = None,
    replication: bool | None = None,
    rolepassword: str | None = None,
    valid_until: str | None = None,
    groups: str | list[str] | None = None,
    runas: str | None = None,
) -> bool:
    """Change a user; attributes that are not given stay unchanged. False if it does not exist.

    Args:
        username: its name.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.
        createdb: whether it may create databases.
        createroles: whether it may create other users and groups.
        encrypted: how the password is stored: ``scram-sha-256``, ``md5``, or the server's default.
        superuser: whether it bypasses all permission checks.
        inherit: whether it has the privileges of its groups automatically.
        login: whether it may log in.
        connlimit: the maximum number of its connections; -1 for no limit.
        replication: whether it may start a replication.
        rolepassword: its password, or the stored form.
        valid_until: when the password expires: ``2030-12-31``, or ``infinity``.
        groups: groups that it is in: a list, or one text with commas.

    Example:
        ```console
        $ saltern call postgres.user_update shop createdb=false
        local:
            True
        ```
    """
    who = connection(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    want = desired_role(
        username,
        createdb=createdb,
        createroles=createroles,
        encrypted=encrypted,
        superuser=superuser,
        inherit=inherit,
        login=login,
        connlimit=connlimit,
        replication=replication,
        rolepassword=rolepassword,
        valid_until=valid_until,
        groups=groups,
    )
    return roles.alter_existing(ctx, who, want)


@function
def user_remove(
    ctx: Context,
    username: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """Remove a user, which must not own any objects; false if it does not exist.

    Args:
        username: its name.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.user_remove shop
        local:
            True
        ```
    """
    who = connection(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return roles.drop_if_present(ctx, who, str(username))
