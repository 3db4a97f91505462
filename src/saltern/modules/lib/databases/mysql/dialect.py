"""The dialect of a server: MariaDB and MySQL have different statements for the same things."""

from __future__ import annotations

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.lib.databases.mysql import client
from saltern.modules.lib.databases.mysql.connection import Connection


class Dialect(Struct, frozen=True):
    mariadb: bool

    @property
    def socket_plugin(self) -> str:
        return "unix_socket" if self.mariadb else "auth_socket"


def version(ctx: Context, server: Connection) -> str:
    return str(client.rows(ctx, server, "SELECT VERSION() AS version")[0]["version"])


def dialect(version: str) -> Dialect:
    return Dialect("mariadb" in version.lower())
