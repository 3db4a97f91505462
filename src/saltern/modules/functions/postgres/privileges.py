"""Privileges: list, check, grant and revoke them."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.postgres import privileges as rights
from saltern.modules.lib.databases.postgres.client import login
from saltern.modules.lib.databases.postgres.holdings import look
from saltern.modules.lib.databases.postgres.privileges import EVERY, GROUP, read_wanted


@function
def privileges_list(
    ctx: Context,
    name: str,
    object_type: str,
    prepend: str = "public",
    maintenance_db: str | None = None,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> dict[str, object]:
    """The privileges on an object, and whether they can be granted on: ``{role: {privilege: true or
    false}}``.

    For a group, its members, and whether they can add others.

    Args:
        name: the object.
        object_type: ``table``, ``sequence``, ``function``, ``schema``, ``database``, ``tablespace``,
            ``language`` or ``group``.
        prepend: the schema of the object.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.privileges_list postgres database
        local:
            ----------
            postgres:
                ----------
                CONNECT:
                    False
                CREATE:
                    False
                TEMPORARY:
                    False
            public:
                ----------
                CONNECT:
                    False
            …
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    kind = str(object_type).lower()
    want = read_wanted("public", str(name), kind, None if kind == GROUP else EVERY, prepend=prepend)
    if kind == GROUP:
        return dict(rights.members(ctx, who, want.object))
    return {role: one.of(role) for one in rights.lists(ctx, who, want) for role, _, _ in one.grants}


@function
def has_privileges(
    ctx: Context,
    name: str,
    object_name: str,
    object_type: str,
    privileges: str | list[str] | None = None,
    grant_option: bool | None = None,
    prepend: str = "public",
    maintenance_db: str | None = None,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """True if a user or group has all these privileges on an object.

    Args:
        name: the user or group; ``public`` for every user.
        object_name: the object; ``ALL`` for all tables, sequences or functions of a schema.
        object_type: ``table``, ``sequence``, ``function``, ``schema``, ``database``, ``tablespace``,
            ``language`` or ``group``.
        privileges: a list, or one text with commas; ``ALL`` for all privileges.
        grant_option: whether it must be allowed to grant them to others.
        prepend: the schema of the object.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.has_privileges public postgres database CONNECT
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    want = read_wanted(
        name, object_name, object_type, privileges, grant_option=bool(grant_option), prepend=prepend
    )
    return look(ctx, who, want).complete


@function
def privileges_grant(
    ctx: Context,
    name: str,
    object_name: str,
    object_type: str,
    privileges: str | list[str] | None = None,
    grant_option: bool | None = None,
    prepend: str = "public",
    maintenance_db: str | None = None,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """Grant privileges on an object to a user or group; false if it has them already.

    Args:
        name: the user or group; ``public`` for every user.
        object_name: the object; ``ALL`` for all tables, sequences or functions of a schema.
        object_type: ``table``, ``sequence``, ``function``, ``schema``, ``database``, ``tablespace``,
            ``language`` or ``group``.
        privileges: a list, or one text with commas; ``ALL`` for all privileges.
        grant_option: whether it may grant them to others.
        prepend: the schema of the object.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.privileges_grant public postgres database CREATE
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    want = read_wanted(
        name, object_name, object_type, privileges, grant_option=bool(grant_option), prepend=prepend
    )
    if look(ctx, who, want).complete:
        return False
    rights.grant(ctx, who, want)
    return True


@function
def privileges_revoke(
    ctx: Context,
    name: str,
    object_name: str,
    object_type: str,
    privileges: str | list[str] | None = None,
    prepend: str = "public",
    maintenance_db: str | None = None,
    user: str | None = None,
    host: str | None = None,
    port: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> bool:
    """Revoke privileges on an object from a user or group; false if it has none of them.

    Args:
        name: the user or group; ``public`` for every user.
        object_name: the object; ``ALL`` for all tables, sequences or functions of a schema.
        object_type: ``table``, ``sequence``, ``function``, ``schema``, ``database``, ``tablespace``,
            ``language`` or ``group``.
        privileges: a list, or one text with commas; ``ALL`` for all privileges.
        prepend: the schema of the object.
        user, host, port, maintenance_db, password: how to connect; the defaults are the options
            ``postgres.*``.
        runas: the system user that psql runs as; ``postgres`` for a local server.

    Example:
        ```console
        $ saltern call postgres.privileges_revoke public postgres database TEMPORARY
        local:
            True
        ```
    """
    who = login(ctx, user=user, host=host, port=port, db=maintenance_db, password=password, runas=runas)
    want = read_wanted(name, object_name, object_type, privileges, prepend=prepend)
    if not look(ctx, who, want).some:
        return False
    rights.revoke(ctx, who, want)
    return True
