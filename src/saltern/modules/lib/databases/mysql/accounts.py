"""Accounts: how they log in, the wanted login, and the statements that set it."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.modules.lib.databases.mysql import client
from saltern.modules.lib.databases.mysql.answers import Row, Table, Value
from saltern.modules.lib.databases.mysql.connection import Connection
from saltern.modules.lib.databases.mysql.dialect import Dialect, dialect, version
from saltern.modules.lib.databases.mysql.literals import account, text

NATIVE = "mysql_native_password"
NATIVE_HASH = re.compile(r"\*[0-9A-F]{40}")
PLUGIN = re.compile(r"[A-Za-z0-9_]+")
DENIED = frozenset({1045, 1698})  # with a password or without any that could be
OURS = frozenset({"server_version", "kept_priv"})


class Method(Struct, frozen=True):
    """One login method: the plugin that checks it, and the stored secret."""

    plugin: str
    against: str


class Account(Struct, frozen=True):
    dialect: Dialect
    user: str
    host: str
    methods: tuple[Method, ...]
    ssl_type: str = ""
    ssl_cipher: str = ""
    x509_issuer: str = ""
    x509_subject: str = ""

    @property
    def plugins(self) -> list[str]:
        return [method.plugin for method in self.methods]


class DesiredLogin(Struct, frozen=True, kw_only=True):
    """The wanted login of an account. Without password, hash and socket: with an empty password."""

    plugin: str = NATIVE
    password: str = ""
    password_hash: str = ""
    socket: bool = False

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.password, self.password_hash)

    def __repr__(self) -> str:  # an exception must not show the password
        return f"DesiredLogin(plugin={self.plugin!r}, socket={self.socket})"


def desired_login(
    plugin: str, password: str | None, password_hash: str | None, *, socket: bool = False
) -> DesiredLogin:
    """The wanted login, checked. A password overrides a hash, as in Salt."""
    if not PLUGIN.fullmatch(plugin):
        raise Refused(f"auth_plugin cannot be {plugin!r}; use a name such as {NATIVE}")
    hashed = "" if password else password_hash or ""
    if plugin == NATIVE and hashed:
        hashed = hashed.upper()
        if not NATIVE_HASH.fullmatch(hashed):
            raise Refused(f"password_hash is not a hash for {plugin}: use a * and 40 hexadecimal digits")
    return DesiredLogin(plugin=plugin, password=password or "", password_hash=hashed, socket=socket)


# -- reading -----------------------------------------------------------------------------------------


def question(user: str, host: str) -> str:
    """The query for the row of ``mysql.user``, with the data to interpret it. MariaDB executes the comment
    since it supports several login methods for one account."""
    return (
        "SELECT account.*, VERSION() AS server_version "
        "/*M!100400 , (SELECT kept.Priv FROM mysql.global_priv AS kept "
        "WHERE kept.User = account.User AND kept.Host = account.Host) AS kept_priv */ "
        f"FROM mysql.user AS account WHERE User = {text(user)} AND Host = {text(host.lower())}"
    )


def answer(found: Table, user: str) -> Account | None:
    """The account from the result of ``question``."""
    row = _row(found, user)
    if row is None:
        return None
    shown = {name: row.get(name) or "" for name in ("ssl_type", "ssl_cipher", "x509_issuer", "x509_subject")}
    methods = _methods(row["kept_priv"]) if row.get("kept_priv") else (_method(row),)
    return Account(dialect(str(row["server_version"])), user, str(row["Host"]), methods, **shown)


def _row(found: Table, user: str) -> Row | None:
    """The row with exactly this user: SQL ignores blanks at the end of a name."""
    return next((row for row in found.mappings() if row["User"] == user), None)


def get(ctx: Context, server: Connection, user: str, host: str) -> Account | None:
    return answer(client.ask(ctx, server, question(user, host))[0], user)


def row(ctx: Context, server: Connection, user: str, host: str) -> Row | None:
    """The row of an account in ``mysql.user``."""
    found = _row(client.ask(ctx, server, question(user, host))[0], user)
    return {name: value for name, value in (found or {}).items() if name not in OURS} or None


def _method(found: Row) -> Method:
    against = found.get("authentication_string") or found.get("Password") or ""
    return Method(found.get("plugin") or NATIVE, against)


class _Kept(Struct):
    """The record of an account in MariaDB; an empty entry of ``auth_or`` stands for the outer one."""

    plugin: str = ""
    authentication_string: str = ""
    auth_or: list[_Kept] = []


def _methods(priv: Value) -> tuple[Method, ...]:
    outer = msgspec.json.decode(priv or "{}", type=_Kept)
    each = [one if one.plugin else outer for one in outer.auth_or] or [outer]
    return tuple(Method(one.plugin or NATIVE, one.authentication_string) for one in each)


# -- comparing ---------------------------------------------------------------------------------------


def holds(ctx: Context, server: Connection, have: Account, wanted: DesiredLogin) -> bool | None:
    """True if the account logs in as desired; None if that cannot be determined."""
    if wanted.socket:
        return have.dialect.socket_plugin in have.plugins
    of_plugin = [method.against for method in have.methods if method.plugin == wanted.plugin]
    if not of_plugin:
        return False
    if wanted.password_hash:
        return wanted.password_hash in of_plugin
    if wanted.plugin == NATIVE:
        return native_hash(wanted.password) in of_plugin
    if not wanted.password:
        return True  # such plugins store nothing, or ask another service
    return _logs_in(ctx, server, have, wanted.password)


def native_hash(password: str) -> str:
    if not password:
        return ""
    from hashlib import sha1

    return "*" + sha1(sha1(password.encode()).digest()).hexdigest().upper()


def _logs_in(ctx: Context, server: Connection, have: Account, password: str) -> bool | None:
    """Try to log in, for salted passwords. A failure is conclusive only for ``localhost``: from here, a login
    for another host may use another account."""
    as_user = server.with_values(user=have.user, password=password, database="")
    try:
        found = client.rows(ctx, as_user, "SELECT CURRENT_USER() AS me")
    except client.ServerRefused as refused:
        return False if refused.code in DENIED and have.host == "localhost" else None
    return True if found[0]["me"] == f"{have.user}@{have.host}" else None


# -- changing ----------------------------------------------------------------------------------------


def create(ctx: Context, server: Connection, user: str, host: str, wanted: DesiredLogin) -> None:
    identified = _identified_clause(dialect(version(ctx, server)), wanted)
    client.ask(ctx, server, f"CREATE USER {account(user, host)} {identified}", secrets=wanted.secrets)


def alter(ctx: Context, server: Connection, have: Account, wanted: DesiredLogin) -> None:
    """Change the login. MariaDB's SET PASSWORD keeps the other login methods."""
    who = account(have.user, have.host)
    if have.dialect.mariadb and not wanted.socket and wanted.plugin == NATIVE and NATIVE in have.plugins:
        new = f"PASSWORD({text(wanted.password)})" if wanted.password else text(wanted.password_hash)
        statement = f"SET PASSWORD FOR {who} = {new}"
    else:
        statement = f"ALTER USER {who} {_identified_clause(have.dialect, wanted)}"
    client.ask(ctx, server, statement, secrets=wanted.secrets)


def drop(ctx: Context, server: Connection, user: str, host: str) -> None:
    client.ask(ctx, server, f"DROP USER {account(user, host)}")


def _identified_clause(speaks: Dialect, wanted: DesiredLogin) -> str:
    if wanted.socket:
        return f"IDENTIFIED {'VIA' if speaks.mariadb else 'WITH'} {speaks.socket_plugin}"
    if not speaks.mariadb:
        secret = f"AS {text(wanted.password_hash)}" if wanted.password_hash else f"BY {text(wanted.password)}"
        return f"IDENTIFIED WITH {wanted.plugin} {secret}"
    if wanted.plugin == NATIVE:
        hashed = f"PASSWORD {text(wanted.password_hash)}" if wanted.password_hash else text(wanted.password)
        return f"IDENTIFIED BY {hashed}"
    if wanted.password_hash:
        return f"IDENTIFIED VIA {wanted.plugin} USING {text(wanted.password_hash)}"
    return f"IDENTIFIED VIA {wanted.plugin}" + (
        f" USING PASSWORD({text(wanted.password)})" if wanted.password else ""
    )
