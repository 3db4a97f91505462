"""``mysql_grants``: privileges of the accounts of a MariaDB or MySQL server.

The server is reached with its client program, ``mariadb`` or ``mysql``. Without any ``connection_``
argument it uses the options ``mysql.user``, ``mysql.pass``, ``mysql.host`` … of the configuration or the
pillar, and without those root logs in at the local socket.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.databases.mysql import client, grants
from saltern.modules.lib.databases.mysql.connection import ConnectionArguments, reach
from saltern.modules.lib.databases.mysql.grants import DesiredGrant, Held
from saltern.modules.lib.databases.mysql.privileges import ALL, sql
from saltern.modules.lib.databases.mysql.sight import Sight


@state
def present(
    ctx: Context,
    /,
    name: str,
    *,
    grant: str | list[str],
    database: str,
    user: str,
    host: str = "localhost",
    grant_option: bool = False,
    escape: bool = True,
    revoke_first: bool = False,
    ssl_option: object = False,
    **connection: Unpack[ConnectionArguments],
) -> Result:
    """Make sure that an account has these privileges.

    Args:
        name: a title.
        grant: the privileges, such as ``select, insert (name)`` or ``all privileges``.
        database: the object of the privileges: ``db.table``, ``db.*``, ``*.*`` or ``procedure db.name``.
        user: the name of the user, who must exist.
        host: the host that the account is for.
        grant_option: the user may grant them to others.
        escape: take ``_`` and ``%`` in the name of the database literally; otherwise they are wildcards.
        revoke_first: revoke all other privileges of the user on exactly this ``database``.
        ssl_option: requirements for the user's connection: a list of ``SSL: true``, ``X509: true``,
            ``CIPHER: text``, ``ISSUER: text``, ``SUBJECT: text``.

    Example:
        ```yaml
        reporting:
          mysql_user.present:
            - allow_passwordless: true

        reporting_reads:
          mysql_grants.present:
            - grant: select, show view
            - database: shop.*
            - user: reporting
            - host: localhost
            - require:
              - mysql_user: reporting
        ```
    """
    server = reach(ctx, connection)
    wanted = grants.desired_grant(grant, database, user, host, option=grant_option, escape=escape)
    ssl = grants.ssl_columns(ssl_option)
    sight = Sight(ctx, lambda: grants.held_privileges(ctx, server, wanted), Held(wanted.privileges))

    def differs() -> Changes:
        have = sight.again()
        lacks = grants.missing_privileges(wanted, have) or (wanted.option and not have.option)
        extra = revoke_first and (grants.surplus(have) or (have.option and not wanted.option))
        return {name: "Present"} if lacks or extra or not grants.ssl_holds(have.account, ssl) else {}

    def act(_: Changes) -> None:
        have = sight.last
        if have.account is None:
            raise Refused(
                f"there is no user {user}@{host} to grant anything to; create it with mysql_user.present"
            )
        revoking = _revoke_statements(wanted, have) if revoke_first else []
        needs_ssl = [] if grants.ssl_holds(have.account, ssl) else grants.ssl_statements(wanted, ssl)
        client.ask(
            ctx, server, *revoking, *_grant_statements(wanted, have, revoke_first=revoke_first), *needs_ssl
        )

    what = f"{_shown_grant(grant)} on {database} to {user}@{host}"
    return bring(
        ctx,
        differs,
        act,
        facts=lambda: _facts(wanted, sight.last),
        words=Words(
            f"Grant {what} is already present", f"Grant {what} would be added", f"Grant {what} has been added"
        ),
        warnings=sight.warnings,
    )


def _grant_statements(wanted: DesiredGrant, have: Held, *, revoke_first: bool) -> list[str]:
    """The missing privileges; all of them if ALL was too much and has just been revoked."""
    some = grants.missing_privileges(wanted, have)
    if revoke_first and ALL in grants.surplus(have):
        some = have.needed
    return grants.grant_statements(wanted, some, option=wanted.option and not have.option)


def _revoke_statements(wanted: DesiredGrant, have: Held) -> list[str]:
    return grants.revoke_statements(wanted, have, grants.surplus(have), option=not wanted.option)


def _shown_grant(grant: str | Sequence[str]) -> str:
    return grant if isinstance(grant, str) else ", ".join(grant)


def _facts(wanted: DesiredGrant, have: Held) -> Changes:
    return {
        "user": wanted.user,
        "host": wanted.host,
        "user_exists": have.account is not None,
        "database": str(wanted.level),
        "privileges": sql(have.privileges),
        "grant_option": have.option,
    }


@state(removes=True)
def absent(
    ctx: Context,
    /,
    name: str,
    *,
    grant: str | list[str],
    database: str,
    user: str,
    host: str = "localhost",
    grant_option: bool = False,
    escape: bool = True,
    **connection: Unpack[ConnectionArguments],
) -> Result:
    """Make sure that an account has none of these privileges.

    Args:
        name: a title.
        grant: the privileges; ``all privileges`` revokes all privileges on the ``database``.
        database: the object of the privileges: ``db.table``, ``db.*``, ``*.*`` or ``procedure db.name``.
        user: the name of the user.
        host: the host that the account is for.
        grant_option: also revoke the right to grant them to others.
        escape: take ``_`` and ``%`` in the name of the database literally; otherwise they are wildcards.

    Example:
        ```yaml
        reporting_writes_no_more:
          mysql_grants.absent:
            - grant: insert, update
            - database: shop.*
            - user: reporting
            - host: localhost
        ```
    """
    server = reach(ctx, connection)
    wanted = grants.desired_grant(grant, database, user, host, option=grant_option, escape=escape)
    sight = Sight(ctx, lambda: grants.held_privileges(ctx, server, wanted), Held(wanted.privileges))

    def differs() -> Changes:
        have = sight.again()
        option = wanted.option and have.option
        return {name: "Absent"} if grants.shared_privileges(wanted, have) or option else {}

    def act(_: Changes) -> None:
        have = sight.last
        taken = grants.shared_privileges(wanted, have)
        client.ask(ctx, server, *grants.revoke_statements(wanted, have, taken, option=wanted.option))

    what = f"{_shown_grant(grant)} on {database} for {user}@{host}"
    return bring(
        ctx,
        differs,
        act,
        facts=lambda: _facts(wanted, sight.last),
        words=Words(
            f"Grant {what} is not present", f"Grant {what} would be revoked", f"Grant {what} has been revoked"
        ),
        warnings=sight.warnings,
    )
