"""``mysql_user``: accounts of a MariaDB or MySQL server.

The server is reached with its client program, ``mariadb`` or ``mysql``. Without any ``connection_``
argument it uses the options ``mysql.user``, ``mysql.pass``, ``mysql.host`` … of the configuration or the
pillar, and without those root logs in at the local socket.
"""

from __future__ import annotations

from typing import Unpack

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.databases.mysql import accounts
from saltern.modules.lib.databases.mysql.accounts import Account, DesiredLogin
from saltern.modules.lib.databases.mysql.connection import Connection, ConnectionArguments, reach
from saltern.modules.lib.databases.mysql.sight import Sight

UNVERIFIED = "its password cannot be checked from here and was not changed"
BOTH = "unix_socket is not used, since a password is given"

# The existing account, and whether it logs in as desired.
Seen = tuple[Account | None, bool | None]


@state
def present(
    ctx: Context,
    /,
    name: str,
    *,
    host: str = "localhost",
    password: str | None = None,
    password_hash: str | None = None,
    allow_passwordless: bool = False,
    unix_socket: bool = False,
    auth_plugin: str = accounts.NATIVE,
    **connection: Unpack[ConnectionArguments],
) -> Result:
    """Make sure that an account exists and logs in with this password.

    MariaDB's further ways to log in, such as the socket for root, stay when a password
    is changed. A password that is stored salted can be checked only for accounts of ``localhost``.

    Args:
        name: the name of the user.
        host: the host that the account is for; ``%`` means any.
        password: the password.
        password_hash: the hash of the password, as the server stores it; not used if a password is given.
        allow_passwordless: allow login without a password if neither password nor hash is given.
        unix_socket: let the system user with this name log in without a password.
        auth_plugin: the plugin that checks the password, such as ``ed25519`` or ``caching_sha2_password``.

    Example:
        ```yaml
        shop:
          mysql_user.present:
            - host: localhost
            - password: {{ salt['pillar.get']('shop:password', 'not-for-production') }}
        ```
    """
    server = reach(ctx, connection)
    _check_name(name)
    given = bool(password or password_hash)
    if not given and not allow_passwordless and not unix_socket:
        raise Refused(f"user {name}@{host} needs a password or password_hash, or allow_passwordless")
    wanted = accounts.desired_login(auth_plugin, password, password_hash, socket=unix_socket and not given)
    sight: Sight[Seen] = Sight(ctx, lambda: _look(ctx, server, name, host, wanted), (None, False))
    before = sight.last[0]

    def act(_: Changes) -> None:
        if before is None:
            accounts.create(ctx, server, name, host, wanted)
        else:
            accounts.alter(ctx, server, before, wanted)

    return bring(
        ctx,
        lambda: _differs(name, sight.again()),
        act,
        facts=lambda: _facts(name, host, sight.last[0]),
        words=_words(f"{name}@{host}", before, given=given),
        warnings=(
            *sight.warnings,
            *((BOTH,) if unix_socket and given else ()),
            *((UNVERIFIED,) if sight.last[1] is None else ()),
        ),
    )


def _check_name(name: str) -> None:
    if "\0" in name:
        raise Refused(f"{name!r} cannot be the name of a user")


def _look(ctx: Context, server: Connection, name: str, host: str, wanted: DesiredLogin) -> Seen:
    have = accounts.get(ctx, server, name, host)
    return have, False if have is None else accounts.holds(ctx, server, have, wanted)


def _differs(name: str, seen: Seen) -> Changes:
    have, holds = seen
    if have is None:
        return {name: "Present"}
    return {name: "Updated"} if holds is False else {}


def _words(who: str, before: Account | None, *, given: bool) -> Words:
    how = "with the desired password" if given else "with passwordless login"
    if before is None:
        return Words(
            f"User {who} is already present {how}",
            f"User {who} would be added {how}",
            f"The user {who} has been added {how}",
        )
    what = f"Password for user {who}" if given else f"Login of user {who}"
    return Words(
        f"User {who} is already present {how}", f"{what} would be changed", f"{what} has been changed"
    )


def _facts(name: str, host: str, have: Account | None) -> Changes:
    if have is None:
        return {"name": name, "host": host, "exists": False}
    return {"name": name, "host": have.host, "exists": True, "plugins": have.plugins}


@state(removes=True)
def absent(
    ctx: Context,
    /,
    name: str,
    *,
    host: str = "localhost",
    **connection: Unpack[ConnectionArguments],
) -> Result:
    """Make sure that an account does not exist.

    Args:
        name: the name of the user.
        host: the host that the account is for.

    Example:
        ```yaml
        old_shop:
          mysql_user.absent:
            - host: localhost
        ```
    """
    server = reach(ctx, connection)
    _check_name(name)
    sight: Sight[Account | None] = Sight(ctx, lambda: accounts.get(ctx, server, name, host), None)
    who = f"User {name}@{host}"
    return bring(
        ctx,
        lambda: {name: "Absent"} if sight.again() else {},
        lambda _: accounts.drop(ctx, server, name, host),
        facts=lambda: _facts(name, host, sight.last),
        words=Words(f"{who} is not present", f"{who} would be removed", f"{who} has been removed"),
        warnings=sight.warnings,
    )
