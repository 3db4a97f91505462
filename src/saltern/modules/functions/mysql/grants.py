"""``mysql``: privileges of accounts."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib.databases.mysql import client, grants
from saltern.modules.lib.databases.mysql.connection import connection
from saltern.modules.lib.databases.mysql.privileges import parse_grant_line, sql, without_login


@function
def user_grants(
    ctx: Context, /, user: str, host: str = "localhost", **connection_args: object
) -> list[str] | bool:
    """The grants of an account, as statements without its password; false if there is no such account.

    Args:
        user: the name of the user.
        host: the host that the account is for.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.user_grants root
        ```
    """
    found = grants.lines(ctx, connection(ctx, connection_args), user, host)
    return False if found is None else [without_login(line) for line in found]


@function
def grant_exists(
    ctx: Context,
    /,
    grant: str,
    database: str,
    user: str,
    host: str = "localhost",
    grant_option: bool = False,
    escape: bool = True,
    **connection_args: object,
) -> bool:
    """True if an account has all of these privileges.

    Args:
        grant: the privileges, such as ``select, insert``.
        database: the object of the privileges: ``db.table``, ``db.*`` or ``*.*``.
        user: the name of the user.
        host: the host that the account is for.
        grant_option: the user may grant them to others.
        escape: take ``_`` and ``%`` in the name of the database literally; otherwise they are wildcards.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.grant_exists 'SELECT,INSERT' 'mysql.*' root localhost
        ```
    """
    wanted = grants.desired_grant(grant, database, user, host, option=grant_option, escape=escape)
    have = grants.held_privileges(ctx, connection(ctx, connection_args), wanted)
    enough = have.option or not wanted.option
    return have.account is not None and enough and not grants.missing_privileges(wanted, have)


@function
def grant_add(
    ctx: Context,
    /,
    grant: str,
    database: str,
    user: str,
    host: str = "localhost",
    grant_option: bool = False,
    escape: bool = True,
    ssl_option: object = False,
    **connection_args: object,
) -> bool:
    """Grant privileges to an account, which must exist.

    Args:
        grant: the privileges, such as ``select, insert``.
        database: the object of the privileges: ``db.table``, ``db.*`` or ``*.*``.
        user: the name of the user.
        host: the host that the account is for.
        grant_option: the user may grant them to others.
        escape: take ``_`` and ``%`` in the name of the database literally; otherwise they are wildcards.
        ssl_option: requirements for the user's connection: a list of ``SSL: true``, ``SUBJECT: text`` …
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.grant_add 'SELECT,INSERT' 'shop.*' shop localhost
        local:
            True
        ```
    """
    server = connection(ctx, connection_args)
    wanted = grants.desired_grant(grant, database, user, host, option=grant_option, escape=escape)
    ssl = grants.ssl_statements(wanted, grants.ssl_columns(ssl_option))
    have = grants.held_privileges(ctx, server, wanted)
    if have.account is None:
        raise Refused(f"there is no user {user}@{host}")
    client.ask(ctx, server, *grants.grant_statements(wanted, have.needed, option=wanted.option), *ssl)
    return True


@function
def grant_revoke(
    ctx: Context,
    /,
    grant: str,
    database: str,
    user: str,
    host: str = "localhost",
    grant_option: bool = False,
    escape: bool = True,
    **connection_args: object,
) -> bool:
    """Revoke privileges from an account; privileges it does not have are ignored.

    Args:
        grant: the privileges, such as ``select, insert``.
        database: the object of the privileges: ``db.table``, ``db.*`` or ``*.*``.
        user: the name of the user.
        host: the host that the account is for.
        grant_option: also revoke the right to grant them to others.
        escape: take ``_`` and ``%`` in the name of the database literally; otherwise they are wildcards.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.grant_revoke 'INSERT' 'shop.*' shop localhost
        local:
            True
        ```
    """
    server = connection(ctx, connection_args)
    wanted = grants.desired_grant(grant, database, user, host, option=grant_option, escape=escape)
    have = grants.held_privileges(ctx, server, wanted)
    taken = grants.shared_privileges(wanted, have)
    client.ask(ctx, server, *grants.revoke_statements(wanted, have, taken, option=wanted.option))
    return True


@function
def tokenize_grant(
    ctx: Context,  # noqa: ARG001 - nothing is asked
    grant: str,
) -> dict[str, object]:
    """The parts of a statement of ``user_grants``: user, host, grant, database.

    Args:
        grant: the statement.

    Example:
        ```console
        $ saltern call mysql.tokenize_grant 'GRANT SELECT, INSERT ON `shop`.* TO `shop`@`localhost`'
        ```
    """
    found = parse_grant_line(grant)
    if found is None:
        raise Refused(f"this is not a GRANT statement: {grant!r}")
    return {
        "user": found.user,
        "host": found.host,
        "grant": [sql({one}) for one in sorted(found.privileges)] or ["USAGE"],
        "database": str(found.level),
    }
