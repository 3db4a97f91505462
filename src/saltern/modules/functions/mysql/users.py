"""``mysql``: accounts."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib.databases.mysql import accounts, client
from saltern.modules.lib.databases.mysql.accounts import DesiredLogin
from saltern.modules.lib.databases.mysql.connection import connection


@function
def user_list(ctx: Context, /, **connection_args: object) -> list[dict[str, str | None]]:
    """All accounts, as mappings with ``User`` and ``Host``.

    Args:
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.user_list
        ```
    """
    return client.rows(ctx, connection(ctx, connection_args), "SELECT User, Host FROM mysql.user")


@function
def user_info(
    ctx: Context, /, user: str, host: str = "localhost", **connection_args: object
) -> dict[str, str | None] | bool:
    """The row of an account in ``mysql.user``, with the hash of its password; false if there is none.

    Args:
        user: the name of the user.
        host: the host that the account is for.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.user_info root
        ```
    """
    return accounts.row(ctx, connection(ctx, connection_args), user, host) or False


@function
def user_exists(
    ctx: Context,
    /,
    user: str,
    host: str = "localhost",
    password: str | None = None,
    password_hash: str | None = None,
    passwordless: bool = False,
    unix_socket: bool = False,
    password_column: str | None = None,  # noqa: ARG001 - where it is kept is found out
    auth_plugin: str = accounts.NATIVE,
    **connection_args: object,
) -> bool:
    """True if an account exists, and has the given password or login method.

    Args:
        user: the name of the user.
        host: the host that the account is for.
        password: the password that it must have.
        password_hash: the hash of the password that it must have; not used if a password is given.
        passwordless: it must have no password.
        unix_socket: the system user with this name must be able to log in.
        password_column: not used; the column is detected.
        auth_plugin: the plugin that checks the password.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.user_exists root
        local:
            True
        ```
    """
    server = connection(ctx, connection_args)
    have = accounts.get(ctx, server, user, host)
    if have is None or not (password or password_hash or passwordless or unix_socket):
        return have is not None
    given = bool(password or password_hash)
    wanted = accounts.desired_login(auth_plugin, password, password_hash, socket=unix_socket and not given)
    return accounts.holds(ctx, server, have, wanted) is not False


def _desired_login(
    password: str | None, password_hash: str | None, allow_passwordless: bool, unix_socket: bool, plugin: str
) -> DesiredLogin:
    given = bool(password or password_hash)
    if not given and not allow_passwordless and not unix_socket:
        raise Refused("give a password or password_hash, or allow_passwordless")
    return accounts.desired_login(plugin, password, password_hash, socket=unix_socket and not given)


@function
def user_create(
    ctx: Context,
    /,
    user: str,
    host: str = "localhost",
    password: str | None = None,
    password_hash: str | None = None,
    allow_passwordless: bool = False,
    unix_socket: bool = False,
    password_column: str | None = None,  # noqa: ARG001 - where it is kept is found out
    auth_plugin: str = accounts.NATIVE,
    **connection_args: object,
) -> bool:
    """Create an account; false if it exists already.

    Args:
        user: the name of the user.
        host: the host that the account is for.
        password: the password.
        password_hash: its hash, as the server stores it; not used if a password is given.
        allow_passwordless: allow login without a password if neither password nor hash is given.
        unix_socket: let the system user with this name log in without a password.
        password_column: not used; the column is detected.
        auth_plugin: the plugin that checks the password.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.user_create shop localhost unix_socket=true
        local:
            True
        ```
    """
    server = connection(ctx, connection_args)
    wanted = _desired_login(password, password_hash, allow_passwordless, unix_socket, auth_plugin)
    if accounts.get(ctx, server, user, host) is not None:
        return False
    accounts.create(ctx, server, user, host, wanted)
    return True


@function
def user_chpass(
    ctx: Context,
    /,
    user: str,
    host: str = "localhost",
    password: str | None = None,
    password_hash: str | None = None,
    allow_passwordless: bool = False,
    unix_socket: bool = False,
    password_column: str | None = None,  # noqa: ARG001 - where it is kept is found out
    auth_plugin: str = accounts.NATIVE,
    **connection_args: object,
) -> bool:
    """Change how an account logs in; false if there is no such account.

    Args:
        user: the name of the user.
        host: the host that the account is for.
        password: the password.
        password_hash: its hash, as the server stores it; not used if a password is given.
        allow_passwordless: allow login without a password if neither password nor hash is given.
        unix_socket: let the system user with this name log in without a password.
        password_column: not used; the column is detected.
        auth_plugin: the plugin that checks the password.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.user_chpass shop password_hash='*7B9EBEED26AA52ED10C0F549FA863F13C39E0209'
        local:
            True
        ```
    """
    server = connection(ctx, connection_args)
    wanted = _desired_login(password, password_hash, allow_passwordless, unix_socket, auth_plugin)
    have = accounts.get(ctx, server, user, host)
    if have is None:
        return False
    accounts.alter(ctx, server, have, wanted)
    return True


@function
def user_remove(ctx: Context, /, user: str, host: str = "localhost", **connection_args: object) -> bool:
    """Drop an account; false if there is none.

    Args:
        user: the name of the user.
        host: the host that the account is for.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.user_remove shop localhost
        local:
            True
        ```
    """
    server = connection(ctx, connection_args)
    if accounts.get(ctx, server, user, host) is None:
        return False
    accounts.drop(ctx, server, user, host)
    return True


@function
def verify_login(ctx: Context, /, user: str, password: str | None = None, **connection_args: object) -> bool:
    """True if a user can log in from this machine with this password.

    Args:
        user: the name of the user.
        password: the password.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.verify_login shop secret
        ```
    """
    server = connection(ctx, connection_args).with_values(user=user, password=password or "")
    try:
        client.ask(ctx, server, "SELECT 1")
    except client.ServerRefused as refused:
        if refused.code in accounts.DENIED:
            return False
        raise
    return True
