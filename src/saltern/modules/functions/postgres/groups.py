"""Groups: make, change and remove them."""

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
    """Make a group; false if it is there already.

    Args:
        groupname: its name.
        user, host, port, maintenance_db, password: how to connect; if not given, as the options
            ``postgres.*`` say.
        runas: the user of this machine that psql runs as; ``postgres`` for a local server.
        createdb: may it create databases?
        createroles: may it create other users and groups?
        encrypted: how the password is kept: ``scram-sha-256``, ``md5``, or as the server does it.
        login: may it log in?
        inherit: does it have the privileges of its groups without asking for them?
        superuser: is it exempt from all checks?
        replication: may it start a replication?
        rolepassword: its password, or what the server keeps of it.
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
    if roles.get(ctx, who, want.name) is not None:
        return False
    roles.create(ctx, who, want)
    return True


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
    """Change a group; what is not given is left alone. False if there is none.

    Args:
        groupname: its name.
        user, host, port, maintenance_db, password: how to connect; if not given, as the options
            ``postgres.*`` say.
        runas: the user of this machine that psql runs as; ``postgres`` for a local server.
        createdb: may it create databases?
        createroles: may it create other users and groups?
        encrypted: how the password is kept: ``scram-sha-256``, ``md5``, or as the server does it.
        inherit: does it have the privileges of its groups without asking for them?
        login: may it log in?
        superuser: is it exempt from all checks?
        replication: may it start a replication?
        rolepassword: its password, or what the server keeps of it.
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
    if roles.get(ctx, who, want.name) is None:
        return False
    roles.alter(ctx, who, want)
    return True


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
    """Remove a group, which must not own anything any more; false if there is none.

    Args:
        groupname: its name.
        user, host, port, maintenance_db, password: how to connect; if not given, as the options
            ``postgres.*`` say.
        runas: the user of this machine that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.group_remove clerks
        local:
            True
        ```
    """
    who = connection(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    if roles.get(ctx, who, str(groupname)) is None:
        return False
    roles.drop(ctx, who, str(groupname))
    return True
