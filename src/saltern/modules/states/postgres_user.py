"""``postgres_user``: users of a PostgreSQL server."""

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
    replication: bool | None = None,
    inherit: bool | None = None,
    login: bool | None = None,
    password: str | None = None,
    default_password: str | None = None,
    refresh_password: bool = False,
    valid_until: str | None = None,
    groups: str | list[str] | None = None,
    **connection: Unpack[MaintenanceArguments],
) -> Result:
    """Make sure that a PostgreSQL user exists as described; attributes that are not given stay unchanged.

    Args:
        name: the name of the user.
        createdb: whether it may create databases.
        createroles: whether it may create other users and groups.
        encrypted: how the password is stored: ``scram-sha-256``, ``md5``, or the server's default.
        superuser: whether it bypasses all permission checks.
        replication: whether it may start a replication.
        inherit: whether it has the privileges of its groups automatically.
        login: whether it may log in; a new user may.
        password: the password, or its stored form (``SCRAM-SHA-256$…``, ``md5…``); never shown.
        default_password: the password of a new user, if ``password`` is not given; never shown.
        refresh_password: set the password in every run, without comparing it: for connections with a
            role that may not read stored passwords.
        valid_until: when the password expires: ``2030-12-31``, or ``infinity``.
        groups: groups that it is in: a list, or one text with commas. It stays in other groups.

    Example:
        ```yaml
        app:
          postgres_user.present:
            - password: 'correct horse battery staple'
            - createdb: true
        ```
    """
    who = reach(ctx, connection)
    return role_states.present(
        ctx,
        who,
        "User",
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
        default_password=default_password,
        encrypted=encrypted,
        refresh_password=refresh_password,
        valid_until=valid_until,
        groups=groups,
    )


@state(removes=True)
def absent(
    ctx: Context,
    name: str,
    **connection: Unpack[MaintenanceArguments],
) -> Result:
    """Remove a PostgreSQL user; it must not own any objects.

    Args:
        name: the name of the user.

    Example:
        ```yaml
        former:
          postgres_user.absent: []
        ```
    """
    who = reach(ctx, connection)
    return role_states.absent(ctx, who, "User", name)
