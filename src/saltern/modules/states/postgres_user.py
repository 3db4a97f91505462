"""``postgres_user``: who may log in to a PostgreSQL server."""

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
    """Make sure that a PostgreSQL user exists and is as described; what is not given is left alone.

    Args:
        name: the name of the user.
        createdb: may it create databases?
        createroles: may it create other users and groups?
        encrypted: how the password is kept: ``scram-sha-256``, ``md5``, or as the server does it.
        superuser: is it exempt from all checks?
        replication: may it start a replication?
        inherit: does it have the privileges of its groups without asking for them?
        login: may it log in? A new user may.
        password: the password, or what the server keeps of it (``SCRAM-SHA-256$…``, ``md5…``); never shown.
        default_password: the password of a new user, if ``password`` is not given; never shown.
        refresh_password: set the password in every run, without a comparison: for those who connect as a
            role that may not read what the server keeps of passwords.
        valid_until: when the password ends: ``2030-12-31``, or ``infinity``.
        groups: groups that it is in: a list, or one text with commas. It stays in others.

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
    """Remove a PostgreSQL user; it must not own anything any more.

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
