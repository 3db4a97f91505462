"""Connections to servers: Salt's ``connection_*`` arguments, and its ``mysql.*`` options."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypedDict

from msgspec import Struct

from saltern.language.diagnostics import did_you_mean
from saltern.modules.api.context import Context
from saltern.modules.api.params import Ignored
from saltern.modules.api.refused import Refused, one_line

PREFIX = "connection_"

# Salt's names, and their names in an option file.
NAMES: Mapping[str, str] = {
    "user": "user",
    "pass": "password",
    "host": "host",
    "port": "port",
    "db": "database",
    "unix_socket": "socket",
    "charset": "default-character-set",
    "default_file": "",
    "default_group": "",
}
UNUSED = frozenset({"client_flags", "connection_conv", "connection_use_unicode"})

# The connection always uses Unicode; its name can be chosen for servers that know only one.
UNICODE = frozenset({"utf8", "utf8mb3", "utf8mb4"})
USUAL_CHARSET = "utf8mb4"

# The groups that the client always reads; it reads one with a suffix, such as ``client-backup``, on request.
GROUPS = ("client", "mysql", "mariadb-client")

ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class ConnectionArguments(TypedDict, total=False):
    """How to reach the server of a state.

    Args:
        connection_user: the user to log in as.
        connection_pass: the password of that user.
        connection_host: the host of the server; this machine if not given.
        connection_port: the port of the server.
        connection_db: the database to log in to.
        connection_unix_socket: the socket of a server on this machine.
        connection_charset: an old server's name for Unicode; the connection always uses Unicode.
        connection_default_file: an option file of the client to read the login from.
        connection_default_group: a group of that file to read in addition to ``client``, such as
            ``client-backup``.
    """

    connection_user: str | None
    connection_pass: str | None
    connection_host: str | None
    connection_port: int | None
    connection_db: str | None
    connection_unix_socket: str | None
    connection_charset: str | None
    connection_default_file: str | None
    connection_default_group: str | None
    _: Ignored


class Connection(Struct, frozen=True):
    """Values for the client's option file, by their names in it, and how the client reads it."""

    values: tuple[tuple[str, str], ...] = ()
    include: str = ""
    suffix: str = ""

    def __repr__(self) -> str:  # an exception must not show the password
        shown = {name: value for name, value in self.values if name != "password"}
        return f"Connection({shown})"

    def with_values(self, **values: str) -> Connection:
        """The connection with other values; an empty one removes the old one."""
        kept = dict(self.values) | values
        return Connection(
            tuple((name, value) for name, value in kept.items() if value), self.include, self.suffix
        )

    def options(self) -> str:
        """The text of the option file. Includes come first, so that our values win."""
        lines = [f"!include {self.include}"] if self.include else []
        lines += ["[client]", *(f'{name}="{_escape(value)}"' for name, value in self.values)]
        return "".join(f"{line}\n" for line in lines)


def _escape(value: str) -> str:
    return "".join(ESCAPES.get(sign, sign) for sign in value)


def connection(ctx: Context, given: Mapping[str, object]) -> Connection:
    """The connection from ``connection_*`` arguments; the defaults are ``mysql.*`` in opts, grains or pillar.

    With ``connection_default_file`` only that file is used, since the options would override it.
    Raises ``Refused`` for unknown arguments and impossible values.
    """
    _check_names(given)
    found = {name: _value(given, name) for name in NAMES}
    if not found["default_file"]:
        found = {name: value or _configured_value(ctx, name) for name, value in found.items()}
    if found["port"] and not found["port"].isdigit():
        raise Refused(f"{PREFIX}port needs a number, got {found['port']!r}")
    found["charset"] = found["charset"] if found["charset"] in UNICODE else USUAL_CHARSET
    values = ((file_name, found[name]) for name, file_name in NAMES.items() if file_name)
    return Connection(
        tuple((name, value) for name, value in values if value),
        _readable(found["default_file"]),
        _suffix(found["default_group"]),
    )


def reach(ctx: Context, given: ConnectionArguments) -> Connection:
    """The connection from the arguments of a state."""
    return connection(ctx, dict(given))


def _check_names(given: Mapping[str, object]) -> None:
    known = [f"{PREFIX}{name}" for name in NAMES]
    for name in given:
        if name not in known and name not in UNUSED and not name.startswith("__"):
            hint = did_you_mean(name, known)
            raise Refused(f"no argument is called {name!r}" + (f"; {hint}" if hint else ""))


def _value(given: Mapping[str, object], name: str) -> str:
    value = given.get(f"{PREFIX}{name}")
    return _plain("" if value is None else str(value), f"{PREFIX}{name}")


def _configured_value(ctx: Context, name: str) -> str:
    key = f"mysql.{name}"
    places = (place for place in (ctx.opts, ctx.grains, ctx.pillar) if place.get(key))
    value = next((place[key] for place in places), "")
    return _plain(str(value), key)


def _plain(value: str, what: str) -> str:
    if "\0" in value:
        raise Refused(f"{what} must not contain a NUL byte")
    return value


def _readable(path: str) -> str:
    if path and not os.path.isfile(path):
        raise Refused(f"{PREFIX}default_file: there is no file {path!r}")
    return os.path.abspath(one_line(path, f"{PREFIX}default_file")) if path else ""


def _suffix(group: str) -> str:
    if group in ("", *GROUPS):
        return ""
    base = next((one for one in GROUPS if group.startswith(one)), None)
    if base is None:
        names = ", ".join(GROUPS)
        raise Refused(f"{PREFIX}default_group must begin with one of {names}; got {group!r}")
    return one_line(group.removeprefix(base), f"{PREFIX}default_group")
