"""``postgres_group``: groups of users of a PostgreSQL server."""

from __future__ import annotations

from typing import Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.lib.databases.postgres import role_states
from saltern.modules.lib.databases.postgres.login import MaintenanceArguments, reach


@state
def present(
    ctx: Context,
    name: str,
    *,
    createdb: bool | None = None,
    createroles: bool | None = None,
    encrypted: object = None,
    superuser: bool | None = None,
    inherit: bool | None = None,
    login: bool | None = None,
    replication: bool | None = None,
    password: str | None = None,
    refresh_password: bool = False,
    groups: str | list[str] | None = None,
    **connection: Unpack[MaintenanceArguments],
) -> Result:
    """Make sure that a PostgreSQL group exists as described; attributes that are not given stay unchanged.

    Args:
        name: the name of the group.
        createdb: whether it may create databases.
        createroles: whether it may create other users and groups.
        encrypted: how the password is stored: ``scram-sha-256``, ``md5``, or the server's default.
        superuser: whether it bypasses all permission checks.
        inherit: whether it has the privileges of its own groups automatically.
        login: whether it may log in; a new group may not.
        replication: whether it may start a replication.
        password: the password, or its stored form; never shown.
        refresh_password: set the password in every run, without comparing it.
        groups: groups that it is in: a list, or one text with commas. It stays in other groups.

    Example:
        ```yaml
        readers:
          postgres_group.present: []
        ```
    """
    who = reach(ctx, connection)
    return role_states.present(
        ctx,
        who,
        "Group",
        name,
        properties={
            "superuser": superuser,
            "createdb": createdb,
            "createroles": createroles,
            "inherit": inherit,
            "login": login,
            "replication": replication,
        },
        password=password,
        encrypted=encrypted,
        refresh_password=refresh_password,
        groups=groups,
    )


@state(removes=True)
def absent(
    ctx: Context,
    name: str,
    **connection: Unpack[MaintenanceArguments],
) -> Result:
    """Remove a PostgreSQL group; it must not own any objects.

    Args:
        name: the name of the group.

    Example:
        ```yaml
        formers:
          postgres_group.absent: []
        ```
    """
    who = reach(ctx, connection)
    return role_states.absent(ctx, who, "Group", name)
