"""The login arguments of states."""

from __future__ import annotations

from typing import TypedDict

from saltern.modules.api.context import Context
from saltern.modules.lib.databases.postgres.client import Login, login


class _User(TypedDict, total=False):
    user: str | None


class _Maintenance(TypedDict, total=False):
    maintenance_db: str | None


class _Server(TypedDict, total=False):
    db_user: str | None
    db_password: str | None
    db_host: str | None
    db_port: str | None


class LoginArguments(_User, _Server, total=False):
    """The login, without the database.

    Args:
        user: the system user that psql runs as; ``postgres`` for a local server.
        db_user: the role to connect as; the name of ``user`` if not given.
        db_password: that role's password; never shown.
        db_host: the server's host, or the directory of its socket.
        db_port: the server's port.
    """


class MaintenanceArguments(_User, _Maintenance, _Server, total=False):
    """The login, with the database.

    Args:
        user: the system user that psql runs as; ``postgres`` for a local server.
        maintenance_db: the database to connect to.
        db_user: the role to connect as; the name of ``user`` if not given.
        db_password: that role's password; never shown.
        db_host: the server's host, or the directory of its socket.
        db_port: the server's port.
    """


def reach(ctx: Context, given: LoginArguments | MaintenanceArguments, db: str | None = None) -> Login:
    """The login from these arguments; ``db`` if they do not name the database."""
    words: dict[str, object] = dict(given)
    return login(
        ctx,
        user=words.get("db_user"),
        host=words.get("db_host"),
        port=words.get("db_port"),
        db=db or words.get("maintenance_db"),
        password=words.get("db_password"),
        runas=words.get("user"),
    )
