"""Users and groups: query them."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.postgres import roles
from saltern.modules.lib.databases.postgres.client import login
from saltern.modules.lib.databases.postgres.roles import Role


@function
def user_list(
    ctx: Context,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
    return_password: bool = False,
) -> dict[str, dict[str, object]]:
    """All users and groups of the server by name, with their rights and groups.

    Args:
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.
        return_password: include the stored passwords, if the login may read them.

    Example:
        ```console
        $ saltern call postgres.user_list
        local:
            ----------
            …
            postgres:
                ----------
                can create databases:
                    True
                …
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return {one.name: _role_facts(one, return_password) for one in roles.read(ctx, who)}


def _role_facts(role: Role, with_password: bool) -> dict[str, object]:
    shown: dict[str, object] = {
        "superuser": role.superuser,
        "inherits privileges": role.inherit,
        "can create roles": role.createroles,
        "can create databases": role.createdb,
        "can update system catalogs": None,
        "can login": role.login,
        "replication": role.replication,
        "connections": None if role.connlimit < 0 else role.connlimit,
        "expiry time": role.valid_until,
        "defaults variables": f"{{{','.join(role.variables)}}}" if role.variables else "",
        "groups": list(role.groups),
    }
    if with_password:
        shown["password"] = (role.password or "") if role.readable else None
    return shown


@function
def role_get(
    ctx: Context,
    name: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
    return_password: bool = False,
) -> dict[str, object] | None:
    """The entry of one user or group in ``postgres.user_list``; None if there is none.

    Args:
        name: the user or group.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.
        return_password: include the stored password, if the login may read it.

    Example:
        ```console
        $ saltern call postgres.role_get postgres
        local:
            ----------
            can create databases:
                True
            can create roles:
                True
            can login:
                True
            …
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    found = roles.get(ctx, who, str(name))
    return None if found is None else _role_facts(found, return_password)


@function
def user_exists(
    ctx: Context,
    name: str,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """True if the server has a user or group.

    Args:
        name: the user or group.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.user_exists postgres
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    return roles.get(ctx, who, str(name)) is not None
