"""``mysql``: plugins of the server."""

from __future__ import annotations

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.lib.databases.mysql import client
from saltern.modules.lib.databases.mysql.connection import Connection, connection
from saltern.modules.lib.databases.mysql.literals import name as quoted
from saltern.modules.lib.databases.mysql.literals import text

ACTIVE = "ACTIVE"


@function
def plugins_list(ctx: Context, /, **connection_args: object) -> list[dict[str, str | None]]:
    """The plugins of the server, as mappings with ``name`` and ``status``.

    Args:
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.plugins_list
        ```
    """
    found = client.rows(ctx, connection(ctx, connection_args), "SHOW PLUGINS")
    return [{"name": row["Name"], "status": row["Status"]} for row in found]


def _status(ctx: Context, server: Connection, name: str) -> str:
    asked = f"SELECT PLUGIN_STATUS AS status FROM information_schema.PLUGINS WHERE PLUGIN_NAME = {text(name)}"
    found = client.rows(ctx, server, asked)
    return str(found[0]["status"]) if found else ""


@function
def plugin_status(ctx: Context, /, name: str, **connection_args: object) -> str:
    """The status of a plugin, such as ``ACTIVE``; empty if it is not loaded.

    Args:
        name: the plugin.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.plugin_status unix_socket
        local:
            ACTIVE
        ```
    """
    return _status(ctx, connection(ctx, connection_args), name)


@function
def plugin_add(ctx: Context, /, name: str, soname: str | None = None, **connection_args: object) -> bool:
    """Load a plugin. Returns true if it is loaded now.

    Args:
        name: the plugin.
        soname: its library file; the name with ``.so`` if not given.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.plugin_add ed25519 auth_ed25519.so
        local:
            True
        ```
    """
    server = connection(ctx, connection_args)
    if _status(ctx, server, name) != ACTIVE:
        client.ask(ctx, server, f"INSTALL PLUGIN {quoted(name)} SONAME {text(soname or f'{name}.so')}")
    return True


@function
def plugin_remove(ctx: Context, /, name: str, **connection_args: object) -> bool:
    """Unload a plugin. Returns true if it is not loaded now.

    Args:
        name: the plugin.
        **connection_args: how to reach the server; see the top of this page.

    Example:
        ```console
        $ saltern call mysql.plugin_remove ed25519
        local:
            True
        ```
    """
    server = connection(ctx, connection_args)
    if _status(ctx, server, name):
        client.ask(ctx, server, f"UNINSTALL PLUGIN {quoted(name)}")
    return True
